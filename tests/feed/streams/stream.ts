import { setTimeout as sleep } from 'node:timers/promises';

export interface SeenTask {
  id: string;
  ownerId: string;
  title: string;
  version: number;
}

/** One change as a client received it, over any protocol. */
export interface StreamedChange {
  kind: 'INSERT' | 'UPDATE' | 'DELETE';
  task: SeenTask;
  previous: SeenTask | null;
  /** If the protocol has it. */
  sequence: number | undefined;
  /** `performance.now()` */
  seenAt: number;
}

/** An account's list as a client read it. */
export interface ReadList {
  tasks: ReadonlyMap<string, Pick<SeenTask, 'title' | 'version'>>;
  /** The place in the feed behind it. */
  cursor: string;
  /** `performance.now()` when the answer came. */
  readAt: number;
}

/** Of an account that has nothing yet. */
export const EMPTY_LIST: ReadList = { tasks: new Map(), cursor: '', readAt: -Infinity };

/** What a client knows from one reading of the list on, until it hears that the feed begins again. */
export interface Reading {
  list: ReadList;
  /** Everything seen since, in the order of arrival. */
  changes: StreamedChange[];
}

/** A client that reads one account's feed, and comes back with its cursor whenever it was cut off. */
export interface Stream {
  protocol: string;
  readings: Reading[];
  /** Of all readings. */
  changes(): StreamedChange[];
  /** What should never have come. */
  failures: string[];
  /** What ended it for good, once its account was being deleted. */
  ending(): string | undefined;
  /** The place behind the last change, as far as the client knows. */
  cursor(): string | undefined;
  /** How often it came back. */
  resumes(): number;
  /** Tears its connection, as a network does; it comes back after `awayMs`. */
  cut(awayMs: number): void;
  close(): Promise<void>;
}

/** The events of a connection. */
export interface Listener {
  /** The subscription stands. */
  onStanding(): void;
  onChange(change: Omit<StreamedChange, 'seenAt'>): void;
  /** The client stands here now. */
  onCursor(cursor: string): void;
  /** The feed is over, and nothing of it may come any more: the list is to be read again. */
  onExpired(): void;
  /** The feed goes on, but not where the client stood: the list is to be read again. */
  onLostPlace(): void;
  /** The server said something that a client in its right mind does not come back after. */
  onFailure(what: string): void;
  /** The connection has ended, for any reason; called once or more. */
  onEnd(): void;
}

export interface ConnectionOptions {
  /** Of a gateway. */
  url: string;
  token: string;
  after: string | undefined;
}

/** One protocol: opens a connection and a subscription behind `after`; the returned function tears the connection. */
export type Connect = (options: ConnectionOptions, listener: Listener) => () => void;

export interface StreamOptions {
  protocol: string;
  connect: Connect;
  /** The gateways: another one each time. */
  urls: string[];
  token: string;
  /** Where it begins. */
  list: ReadList;
  /** Reads the list again. Absent: no feed may begin again. */
  readList?: () => Promise<ReadList>;
  /** The protocol sends the cursor behind a batch of changes: those that came after the last one are delivered again. */
  repeatsBehindCursor?: boolean;
  /** The account is being deleted: an error after which a client does not return is no failure any more, and ends the stream. */
  isDoomed?: () => boolean;
}

const AGAIN_AFTER_MS = 100;
/** A gateway that does not get a subscription going in this time is left for another one. */
const STANDING_WITHIN_MS = 15_000;
/** How long a client still listens to a feed that is over. */
const LINGER_MS = 300;

/** Reads until closed. Resolves when the subscription stands for the first time. */
export async function openStream(options: StreamOptions): Promise<Stream> {
  const { protocol, connect, urls, token, readList, repeatsBehindCursor = false, isDoomed = () => false } = options;
  let reading: Reading = { list: options.list, changes: [] };
  const readings = [reading];
  const failures: string[] = [];
  let ending: string | undefined;
  const closing = new AbortController();
  const fail = (what: string) => {
    if (!isDoomed()) return void failures.push(what);
    ending ??= what;
    closing.abort();
    tear();
  };
  const firstStanding = Promise.withResolvers<void>();
  let cursor: string | undefined = options.list.cursor || undefined;
  /** How many of the changes lie behind the cursor. */
  let behindCursor = 0;
  let connections = 0;
  let awayMs = AGAIN_AFTER_MS;
  let tear = () => {};

  /** Resolves with true when the list is to be read again. */
  const readOnce = async (url: string): Promise<boolean> => {
    const ended = Promise.withResolvers<void>();
    const over = new AbortController();
    let repeats = repeatsBehindCursor ? behindCursor : 0;
    let isExpired = false;
    let hasLostPlace = false;
    const standing = setTimeout(() => tear(), STANDING_WITHIN_MS);
    const end = () => {
      over.abort(); // what a torn connection still had in its buffers, its client never saw
      ended.resolve();
    };
    const whileOpen =
      <Args extends unknown[]>(work: (...args: Args) => void) =>
      (...args: Args) => {
        if (!over.signal.aborted) work(...args);
      };
    const disconnect = connect(
      { url, token, after: cursor },
      {
        onStanding: whileOpen(() => {
          clearTimeout(standing);
          firstStanding.resolve();
        }),
        onChange: whileOpen((change) => {
          if (isExpired) return failures.push(`a change behind the end of its feed: ${JSON.stringify(change)}`);
          const repeated = repeats > 0 ? reading.changes.at(-repeats) : undefined;
          if (repeated) repeats--;
          if (repeated && isSame(repeated, change)) return undefined;
          behindCursor++;
          return reading.changes.push({ ...change, seenAt: performance.now() });
        }),
        onCursor: whileOpen((next) => {
          if (isExpired) return;
          cursor = next;
          behindCursor = repeats; // repeated changes come first, so normally none is left
        }),
        onExpired: whileOpen(() => {
          isExpired = true;
          if (!readList) fail('the feed began again');
          setTimeout(end, LINGER_MS);
        }),
        onLostPlace: whileOpen(() => {
          hasLostPlace = true;
          if (!readList) fail('the place in the feed was lost');
        }),
        onFailure: whileOpen(fail),
        onEnd: () => isExpired || end(),
      },
    );
    tear = () => {
      end();
      disconnect();
    };
    await ended.promise;
    clearTimeout(standing);
    disconnect();
    return isExpired || hasLostPlace;
  };

  const pause = (forMs: number) => sleep(forMs, undefined, { signal: closing.signal }).catch(() => undefined);

  const readAnew = async (read: () => Promise<ReadList>) => {
    while (!closing.signal.aborted) {
      const list = await read().catch(() => undefined);
      if (!list) await pause(AGAIN_AFTER_MS);
      else {
        reading = { list, changes: [] };
        readings.push(reading);
        cursor = list.cursor;
        behindCursor = 0;
        return;
      }
    }
  };

  const run = async () => {
    while (!closing.signal.aborted) {
      const mustReadAnew = await readOnce(urls[connections++ % urls.length] ?? '');
      const pauseMs = awayMs;
      awayMs = AGAIN_AFTER_MS;
      await pause(pauseMs);
      if (mustReadAnew && readList) await readAnew(readList);
    }
  };
  const running = run();
  await firstStanding.promise;

  return {
    protocol,
    readings,
    changes: () => readings.flatMap(({ changes }) => changes),
    failures,
    ending: () => ending,
    cursor: () => cursor,
    resumes: () => Math.max(connections - 1, 0),
    cut(forMs) {
      awayMs = forMs;
      tear();
    },
    async close() {
      closing.abort();
      tear();
      await running;
    },
  };
}

function isSame(one: Omit<StreamedChange, 'seenAt'>, other: Omit<StreamedChange, 'seenAt'>): boolean {
  return one.kind === other.kind && one.task.id === other.task.id && one.task.version === other.task.version;
}
