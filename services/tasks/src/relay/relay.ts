import type { Database } from '@taskmesh/database';
import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import type { EventLog } from '@taskmesh/messaging';
import { type Backoff, backoffMs, type Clock, type Log, type Service } from '@taskmesh/service';
import * as timers from 'node:timers/promises';
import type { Cursors } from '../feed/cursors.ts';
import { PARTITIONS, partOf } from '../feed/partition.ts';
import { toRfc3339 } from '../tasks/task-time.ts';
import { announceEpoch } from './announce-epoch.ts';
import { createHeldOwners, type Owed } from './held-owners.ts';
import { openLease, type Lease } from './lease.ts';
import { createPublisher, type Failure, type Outcome, type ReadChange } from './publisher.ts';
import type { RelayMetrics } from './relay.metrics.ts';
import { HAS_BACKLOG } from './relay.statements.ts';
import { createSignal } from './signal.ts';

/** The safety behind the wake-up calls. */
const POLL_MS = 100;
const CLAIM_EVERY_MS = 500;
/** Between two rounds under load: what comes in meanwhile shares the statements of one round. */
const GATHER_MS = 4;
const READ_PER_PART = 500;
/** While nothing goes through: enough to see when something does. */
const READ_PER_PART_IF_STUCK = 20;
/** Owners whose changes wait, at the most; then nothing new is read. */
const MOST_HELD = 50_000;
/** How many of them are tried at once. */
const OWED_OWNERS = 50;
/** How often everything is looked at, for what came in by no way that we know of. */
const READ_ANEW_EVERY_MS = 30_000;
const RECONNECT: Backoff = { firstMs: 50, longestMs: 1_000 };
/** Notices to other instances, at the most one in so long. */
const NOTICE_SPACING_MS = 5;

export interface RelayDeps {
  database: Pick<Database, 'openSession' | 'run'>;
  eventLog: EventLog;
  cursors: Cursors;
  metrics: RelayMetrics;
  /** Towards an event log that does not take records. */
  backoff: Backoff;
  clock: Clock;
  log: Log;
  /** @default performance.now */
  monotonicMs?: () => number;
  /** @default timers/promises */
  sleep?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<void>;
}

export interface Relay extends Service {
  /** There is something new of this owner. */
  wake(ownerId: string): void;
  /** Tells which epoch the store has now; without a connection, the next one does. */
  announce(epoch: number): void;
  /** There is something new of anybody. */
  wakeAll(): void;
  /** Resolves when everything that is committed by now is published. */
  processAll(): Promise<void>;
  /** The parts that this instance works. */
  heldParts(): number[];
  /** Whether nothing that was tried waits for the event log. */
  isPublishing(): boolean;
}

/**
 * Brings the change log to the event log: in order for each owner, at least once, whatever fails in between. Each part
 * of the log is worked by the one instance that holds its lock; a change is marked only when the event log has taken it.
 */
export function createRelay(deps: RelayDeps): Relay {
  const { database, eventLog, cursors, metrics, backoff, clock, log } = deps;
  const { monotonicMs = () => performance.now(), sleep = timers.setTimeout } = deps;
  const publisher = createPublisher(eventLog, cursors);
  const news = createSignal();
  const held = createHeldOwners({ backoff, monotonicMs });
  let stopping = new AbortController();
  let lease: Lease | undefined;
  let makeTopicAt = -Infinity;
  let noticePending = false;
  let running: Promise<unknown> = Promise.resolve();
  let makingTopic: Promise<void> | undefined;

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  const work = async (): Promise<void> => {
    let tries = 0;
    while (!stopping.signal.aborted) {
      try {
        lease = await openLease(database, { onNews: news.notify, monotonicMs });
        held.clear(); // others had the parts meanwhile, or it is another store: what was known is over
        void announce(lease, await lease.epoch());
        await workUnder(lease, () => (tries = 0));
      } catch (error) {
        if (tries++ === 0)
          log.warn({ err: error }, 'the relay has lost its connection; connecting again until it works');
      }
      await lease?.end();
      lease = undefined;
      await pause(backoffMs(tries, RECONNECT));
    }
  };

  const announce = (current: Lease, epoch: number): Promise<void> =>
    announceEpoch(epoch, {
      eventLog,
      log,
      pause,
      isCurrent: () => lease === current && !current.lost.aborted && !stopping.signal.aborted,
    });

  /** `onRound`: what was published is marked as well. Until then it would be published again with the next connection. */
  const workUnder = async (current: Lease, onRound: () => void): Promise<void> => {
    let [claimAt, readAnewAt] = [-Infinity, monotonicMs() + READ_ANEW_EVERY_MS];
    let limit = READ_PER_PART;
    for (let rounds = 0; !stopping.signal.aborted; rounds++) {
      if (monotonicMs() >= claimAt) {
        await current.claim();
        claimAt = monotonicMs() + CLAIM_EVERY_MS;
      }
      // With much that waits, the way to what is new would be long.
      if (monotonicMs() >= readAnewAt && held.size() === 0) {
        current.readAnew();
        readAnewAt = monotonicMs() + READ_ANEW_EVERY_MS;
      }
      news.clear(); // before reading: what comes in meanwhile gives notice again
      const readAt = monotonicMs();
      const { fresh, owed, waiting, isIdle } = await read(current, held.size() < MOST_HELD ? limit : 0);
      if (rounds > 0) onRound();
      if (isIdle) {
        await news.wait(held.size() > 0 ? Math.min(POLL_MS, backoff.firstMs) : POLL_MS);
        continue;
      }
      const changes = [...fresh, ...waiting]; // in this order: what is in vain does not come first
      const outcome = await publisher.publish(changes, current.isSafe);
      await digest(current, owed, changes, outcome);
      const isVain = outcome.published.length === 0 && outcome.failed.length > 0;
      const isStuck = isVain && fresh.length > 0;
      limit = isStuck ? READ_PER_PART_IF_STUCK : READ_PER_PART;
      if (isStuck) await pause(backoff.firstMs);
      else if (isVain) await news.wait(backoff.firstMs);
      else if (changes.length < READ_PER_PART) {
        const spareMs = Math.ceil(readAt + GATHER_MS - monotonicMs());
        if (spareMs > 0) await pause(spareMs);
      }
    }
  };

  /** What is new of everybody who need not wait, and then what waits for its turn. */
  const read = async (current: Lease, limit: number) => {
    const changes = current.heldParts().length > 0 ? await current.read(limit) : [];
    const [behind, fresh] = [[], []] as [ReadChange[], ReadChange[]];
    for (const change of changes) (held.has(change.owner_id) ? behind : fresh).push(change);
    current.pass(behind);
    const owed = held.due(OWED_OWNERS);
    const waiting = owed.length > 0 ? await current.readOwed(owed) : [];
    return { fresh, owed, waiting, isIdle: changes.length === 0 && owed.length === 0 };
  };

  const digest = async (current: Lease, owed: Owed[], changes: ReadChange[], outcome: Outcome): Promise<void> => {
    const { published, refused, failed } = outcome;
    const wasHolding = held.size() > 0;
    current.markLater(published.map(({ id }) => id));
    metrics.published(published.map(lagOf));
    for (const failure of refused) await deadLetter(current, failure);
    if (failed.length > 0 || owed.length > 0) {
      const handled = new Set([...published, ...refused.map(({ change }) => change)]);
      const left = Map.groupBy(
        changes.filter((change) => !handled.has(change)),
        ({ owner_id }) => owner_id,
      );
      const isFailed = new Set(failed.map(({ change }) => change.owner_id));
      for (const { change } of failed) {
        held.hold(change.owner_id, Number(change.sequence));
        current.pass(left.get(change.owner_id) ?? []);
      }
      const read = Map.groupBy(changes, ({ owner_id }) => owner_id);
      for (const each of owed)
        if (!isFailed.has(each.ownerId)) goOn(each, read.get(each.ownerId) ?? [], left.get(each.ownerId)?.[0]);
    }
    tellOf(outcome, wasHolding);
  };

  /** One that waited, and of whom nothing failed now. `next` is what was not tried. */
  const goOn = ({ ownerId, most }: Owed, changes: ReadChange[], next: ReadChange | undefined): void => {
    const last = changes.at(-1);
    if (next && next === changes[0]) return;
    if (next) held.goOn(ownerId, Number(next.sequence));
    else if (last && changes.length === most) held.goOn(ownerId, Number(last.sequence) + 1);
    else held.release(ownerId);
  };

  const lagOf = ({ occurred_at }: ReadChange): number => clock.now() - Date.parse(toRfc3339(occurred_at));

  const deadLetter = async (current: Lease, { change: { id }, reason }: Failure): Promise<void> => {
    await current.deadLetter(id, withCauses(reason));
    metrics.deadLettered();
    log.error({ changeId: id, err: reason }, 'the event log refuses a change: put aside as a dead letter');
  };

  const tellOf = ({ published, failed }: Outcome, wasHolding: boolean): void => {
    if (wasHolding && held.size() === 0) log.info('publishing everything again');
    if (failed.length === 0) return;
    metrics.failed();
    if (!wasHolding) log.warn({ err: failed[0]?.reason }, 'cannot publish everything; trying again until it works');
    if (published.length === 0 && monotonicMs() >= makeTopicAt) {
      makeTopicAt = monotonicMs() + backoff.longestMs;
      makeSureOfTopic();
    }
  };

  const makeTopic = async (): Promise<void> => {
    for (let tries = 1; !stopping.signal.aborted; tries++) {
      try {
        return await eventLog.ensureTopic(TASK_CHANGES_TOPIC, { partitions: PARTITIONS });
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, 'cannot make the topic yet');
        await pause(backoffMs(tries, backoff));
      }
    }
  };

  /** Not only at the start: an event log may come back with nothing in it, not even the topic. */
  const makeSureOfTopic = (): void => {
    makingTopic ??= makeTopic().finally(() => (makingTopic = undefined));
  };

  const noticeOthers = (): void => {
    if (noticePending) return;
    noticePending = true;
    setTimeout(() => {
      noticePending = false;
      // The others' own polling finds what an unheard notice was about.
      lease?.wakeOthers().catch(() => undefined);
    }, NOTICE_SPACING_MS);
  };

  return {
    async start() {
      stopping = new AbortController();
      makeSureOfTopic();
      running = work();
    },
    async stop() {
      stopping.abort();
      news.notify();
      await Promise.all([running, makingTopic]);
    },
    wake(ownerId) {
      if (lease?.holds(partOf(ownerId))) news.notify();
      else noticeOthers();
    },
    announce(epoch) {
      if (lease) void announce(lease, epoch);
    },
    wakeAll() {
      news.notify();
      noticeOthers();
    },
    async processAll() {
      for (;;) {
        const [row] = await database.run<{ pending: boolean }>('read', HAS_BACKLOG, []);
        if (row?.pending === false) return;
        if (stopping.signal.aborted) throw new Error('The relay is stopped.');
        news.notify();
        await pause(5);
      }
    },
    heldParts: () => lease?.heldParts() ?? [],
    isPublishing: () => held.size() === 0,
  };
}

/** An error with what was behind it: the log's own refusal says little, its cause names the reason. */
function withCauses(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each !== undefined && each !== null; each = each instanceof Error ? each.cause : undefined)
    texts.push(String(each));
  return texts.join('; ');
}
