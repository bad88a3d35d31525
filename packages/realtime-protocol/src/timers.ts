import type { WebSocket } from 'ws';

const EVERY_MS = 12_000;
/** Connections are divided into groups, which take turns every quarter of a second. */
const GROUPS = 48;

export type Heartbeats = ReturnType<typeof createHeartbeats>;

/** Runs the heartbeats of all connections with one timer, because thousands of timers would cost too much. */
export function createHeartbeats(everyMs = EVERY_MS) {
  /** A new connection joins the group of the current turn, so that successive connections also take turns in succession. */
  const groups = Array.from({ length: GROUPS }, () => new Set<() => void>());
  let currentGroup = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const current = () => groups[currentGroup] ?? new Set();
  const beatNextGroup = () => {
    currentGroup = (currentGroup + 1) % GROUPS;
    for (const beat of current()) beat();
  };

  return {
    /** Calls `beat` at each interval, first after one whole interval, until the returned function is called. */
    add(beat: () => void): () => void {
      const group = current();
      group.add(beat);
      if (count++ === 0) timer = setInterval(beatNextGroup, everyMs / GROUPS);
      return () => {
        if (group.delete(beat) && --count === 0) clearInterval(timer);
      };
    },
  };
}

/**
 * Pings the client at each heartbeat. Ends the connection if, by the next heartbeat, the client has neither answered nor read
 * anything; reading counts because a ping waits behind a large result.
 */
export function keepAlive(socket: WebSocket, heartbeats: Heartbeats): void {
  let isAlive = true;
  let queuedBytes = 0;
  socket.on('pong', () => {
    isAlive = true;
  });
  const stop = heartbeats.add(() => {
    const before = queuedBytes;
    queuedBytes = sizeOfQueue(socket);
    const isReading = before > 0 && queuedBytes !== before;
    if (!isAlive && !isReading) return socket.terminate();
    if (isAlive) socket.ping();
    isAlive = false;
  });
  socket.once('close', stop);
}

/**
 * The part of the oldest write that the system has not accepted, which changes only while the client reads. In `bufferedAmount`,
 * a large write counts as a whole until its end, and later writes are added.
 */
function sizeOfQueue(socket: WebSocket): number {
  const { _socket: stream } = socket as unknown as { _socket?: { _handle: { writeQueueSize: number } | null } | null };
  return stream?._handle?.writeQueueSize ?? 0;
}

/**
 * Calls `end` once when the connection is old enough, unless the returned function is called before. A client that cannot
 * resume from a cursor would lose changes: its connection is kept, and checked again after the same time.
 */
export type LimitAge = (end: () => void, canResume: () => boolean) => () => void;

/** How far ages vary around the limit, both ways: connections opened together must not close together. */
const JITTER = 0.1;

/**
 * Limits the age of live connections, give or take a tenth, with one timer for all. With a limit, new servers get their share of
 * long-lived connections.
 * @param maxAgeS in seconds; 0: no limit
 * @param random from 0 to 1
 */
export function createAgeLimit(maxAgeS: number, random: () => number = Math.random): LimitAge {
  if (maxAgeS === 0) return () => () => {};
  const setAlarm = createAlarms(() => performance.now());
  return (end, canResume) => {
    let forget = () => {};
    const wait = () => {
      const second = Math.round(performance.now() / 1_000 + maxAgeS * (1 + JITTER * (2 * random() - 1)));
      forget = setAlarm(second, () => (canResume() ? end() : wait()));
    };
    wait();
    return () => forget();
  };
}

/** Calls `ring` at this time, in seconds of the alarms' clock, unless the returned function is called before. */
export type SetAlarm = (second: number, ring: () => void) => () => void;

const READ_CLOCK_EVERY_MS = 1_000;

/**
 * Alarms for many connections with one timer, for example for the ends of their tokens. It polls the clock, which may be adjusted,
 * and advances while the machine sleeps. An alarm rings up to a second late.
 * @param now the clock in milliseconds, such as Unix time
 */
export function createAlarms(now: () => number): SetAlarm {
  const bySecond = new Map<number, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  const stopIfUnused = () => {
    if (bySecond.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const ringDue = () => {
    const nowMs = now();
    for (const [second, rings] of bySecond) {
      if (second * 1_000 > nowMs) continue;
      bySecond.delete(second);
      for (const ring of rings) ring();
    }
    stopIfUnused();
  };

  return (second, ring) => {
    const rings = bySecond.get(second) ?? new Set();
    bySecond.set(second, rings.add(ring));
    timer ??= setInterval(ringDue, READ_CLOCK_EVERY_MS);
    return () => {
      rings.delete(ring);
      if (rings.size > 0 || bySecond.get(second) !== rings) return;
      bySecond.delete(second);
      stopIfUnused();
    };
  };
}
