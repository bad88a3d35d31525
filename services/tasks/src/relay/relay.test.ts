import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import type { Session, Statement } from '@taskmesh/store';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createRecordingLog } from '@taskmesh/service/testing';
import { eventually } from '@taskmesh/testing';
import { createRelayRepository } from './relay.repository.ts';
import { REPLAYS_CHANNEL } from './relay.statements.ts';
import { createRelay } from './relay.ts';

const TIME = '2026-11-24 10:00:00+00';

function change(n: number) {
  const task = { title: 'x', due_date: null, created_at: TIME, updated_at: TIME };
  return {
    ...{ id: String(n), part: 0, epoch: 1, owner_id: `owner ${n}`, sequence: '1', kind: 'INSERT' },
    ...{ task: JSON.stringify(task), previous: null, occurred_at: TIME, traceparent: null },
  };
}

const QUIET = {
  /** Returns the rows of a read with this limit, without those of these owners. */
  read: (_limit: number, _except: string[]): object[] => [],
  /** If set, publishing fails. May call `replay` meanwhile, to have old changes published again. */
  onPublish: undefined as ((replay: () => void) => unknown) | undefined,
  onTopic: (_topic: string): unknown => undefined,
  /** Refuses a session by what it throws. */
  onOpen: (): unknown => undefined,
  onClose: (): unknown => undefined,
  onWakeOthers: (): unknown => undefined,
  /** Returns the parts that it gets. */
  onClaim: () => [{ lock: 0 }],
  /** Called for each change, before it is published. */
  onSeal: (): unknown => undefined,
  monotonicMs: () => 0,
  backoff: { firstMs: 1, maxMs: 1 },
  onSleep: (_ms: number): unknown => undefined,
  log: createRecordingLog().log,
};
type World = Partial<typeof QUIET>;

function createWorld(given: World) {
  const world = { ...QUIET, ...given };
  const { onPublish, backoff, log, monotonicMs } = world;
  let replay = () => {};
  const eventLog = createMemoryEventLog();
  if (onPublish)
    eventLog.publish = async () => {
      onPublish(replay);
      throw new Error('The log is away.');
    };
  eventLog.ensureTopic = async (topic) => void world.onTopic(topic);
  const session: Session = {
    lost: new AbortController().signal,
    run: async <Row>({ name }: Statement, values: unknown[] = []) => {
      const results: Record<string, () => object[]> = {
        'lock-session-claim': world.onClaim,
        'relay-writers': () => [{ last: '5', writers: [] }],
        'relay-read': () => world.read(Number(values[2]), values[3] as string[]),
        'relay-wake-others': () => [{ woken: world.onWakeOthers() }],
        'relay-read-blocked': () => (values[0] as string[]).map((owner) => change(Number(owner.split(' ')[1]))),
      };
      return (results[name]?.() ?? []) as Row[];
    },
    listen: async (channel, notify) => {
      if (channel === REPLAYS_CHANNEL) replay = notify;
    },
    close: async () => void world.onClose(),
  };
  const openSession = async () => (world.onOpen(), session);
  return createRelay({
    repository: createRelayRepository({ openSession, run: async () => [] }),
    eventLog,
    cursors: { seal: async () => (world.onSeal(), 'cursor') },
    metrics: { published: () => undefined, failed: () => undefined, deadLettered: () => undefined },
    backoff,
    clock: { now: () => 0 },
    log,
    monotonicMs,
    async sleep(ms) {
      world.onSleep(ms);
      await new Promise(setImmediate);
    },
  });
}

/** Runs a relay until the world calls `end`, and returns what it was called with. */
async function runRelay<Result>(worldOf: (end: (result: Result) => void) => World) {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const relay = createWorld(worldOf(resolve));
  await relay.start();
  const result = await promise;
  await relay.stop();
  return result;
}

it('begins with few changes, and reads fewer again after a round that took too long to publish', async () => {
  const limits: number[] = [];
  let nowMs = 0;
  await runRelay<void>((end) => ({
    monotonicMs: () => nowMs,
    read(limit) {
      if (limits.push(limit) === 14) end();
      return Array.from({ length: limit }, (_, n) => change(n + 6));
    },
    onSeal: () => (nowMs += 10), // the session's fence is at 3 s
  }));
  expect(limits.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  expect(limits.slice(9, 14)).toEqual([500, 125, 250, 500, 125]);
});

it('measures few more large changes than it can read in a round', async () => {
  const limits: number[] = [];
  await runRelay<void>((end) => ({
    read(limit) {
      if (limits.push(limit) === 12) end();
      const most = limits.length > 9 ? 500 : 26; // small changes follow
      const isCut = (n: number) => n === 25 && most === 26;
      return Array.from({ length: Math.min(limit, most) }, (_, n) => ({ ...change(n), is_cut: isCut(n) }));
    },
  }));
  expect(limits.slice(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 52, 52, 52, 52, 104, 208]);
});

it('reads every owner again after a replay that began during a round', async () => {
  const skipped: string[][] = [];
  await runRelay<void>((end) => ({
    read(_limit, except) {
      if (skipped.push(except) === 3) end();
      return [change(skipped.length)];
    },
    onPublish: (replay) => skipped.length === 1 && replay(),
  }));
  expect(skipped).toEqual([[], [], ['owner 2']]);
});

it('gives up after ten seconds without success, but not before it has tried every owner', async () => {
  let [nowMs, opened, read] = [0, 0, 0];
  const readAtEnd = await runRelay<number>((end) => ({
    monotonicMs: () => nowMs,
    onOpen: () => ++opened === 2 && end(read),
    read(limit) {
      nowMs += 1_000;
      const rows = Array.from({ length: Math.min(limit, 600 - read) }, (_, n) => change(read + n));
      read += rows.length;
      return rows;
    },
    onPublish: () => undefined,
  }));
  expect(readAtEnd).toBe(600);
});

it('puts no change aside while cursors cannot be made', async () => {
  const { log, lines } = createRecordingLog();
  let seals = 0;
  await runRelay<void>((end) => ({
    log,
    read: () => [change(1)],
    onSeal() {
      if (++seals === 1) throw new Error('no database');
      end();
    },
  }));
  const msg = expect.stringContaining('the relay has failed');
  expect(lines[0]).toMatchObject({ msg, err: { message: 'no database' } });
});

it('waits twice as long after each failure of an owner, up to a maximum', async () => {
  let nowMs = 0;
  const triedAt: number[] = [];
  await runRelay<void>((end) => ({
    monotonicMs: () => nowMs,
    backoff: { firstMs: 1, maxMs: 8 },
    read: () => (nowMs++ === 0 ? [change(1)] : []),
    onPublish: () => triedAt.push(nowMs) === 6 && end(),
  }));
  expect(triedAt).toEqual([1, 2, 4, 8, 16, 24]);
});

it('creates the topic before there is anything to publish', async () =>
  expect(await runRelay<string>((onTopic) => ({ onTopic }))).toBe(TASK_CHANGES_TOPIC));

it('waits while others have all parts', async () => {
  const { log, lines } = createRecordingLog();
  let [claims, nowMs] = [0, 0];
  await runRelay<void>((end) => ({
    log,
    monotonicMs: () => (nowMs += 1_000),
    onClaim() {
      if (++claims === 3) end();
      return [];
    },
  }));
  expect(lines).toEqual([]);
});

it('wakes others for an owner of theirs', async () => {
  let woken = 0;
  const relay = createWorld({ onWakeOthers: () => void woken++ });
  await relay.start();
  await eventually(() => expect(relay.leasedParts()).toEqual([0]));
  relay.wake('owner 1');
  await eventually(() => expect(woken).toBe(1));
  await relay.stop();
});

it('works in one session after the other, closes each, pauses longer with each failure, and logs each cause once', async () => {
  const { log, lines } = createRecordingLog();
  const enough = Promise.withResolvers<void>();
  const [closed, pauses, failing]: [number[], number[], (number | undefined)[]] = [[], [], []];
  let [opened, reads, nowMs] = [0, 0, 0];
  const relay = createWorld({
    log,
    monotonicMs: () => nowMs,
    onOpen() {
      failing.push(relay.failingSeconds());
      nowMs += 1_000;
      if (++opened === 2 || opened === 3) throw new Error('the server is away');
    },
    onClose: () => void closed.push(opened),
    read() {
      if (opened === 6) enough.resolve();
      else if (opened !== 5 || ++reads > 1) throw new Error('lost');
      relay.wakeAll();
      return [];
    },
    onSleep: (ms) => void pauses.push(ms),
  });
  await relay.start();
  await enough.promise;
  await relay.stop();
  expect(closed).toEqual([1, 4, 5, 6]);
  expect(pauses.slice(0, 5)).toEqual([50, 100, 200, 400, 50]);
  expect(failing).toEqual([undefined, 0, 1, 2, 3, 0]);
  expect(lines.map(({ msg, err }) => [msg, (err as Error | undefined)?.message])).toEqual([
    ['the relay has failed, or has lost its connection; connecting again until it works', 'lost'],
    ['the relay cannot connect; connecting again until it works', 'the server is away'],
    ['the relay has failed, or has lost its connection; connecting again until it works', 'lost'],
    ['the relay works again', undefined],
    ['the relay has failed, or has lost its connection; connecting again until it works', 'lost'],
    ['the relay works again', undefined],
  ]);
});
