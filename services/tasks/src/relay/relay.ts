import type { Database } from '@taskmesh/database';
import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { isRefusedForGood, type EventLog } from '@taskmesh/messaging';
import type { Clock, Log, Service } from '@taskmesh/service';
import * as timers from 'node:timers/promises';
import type { Cursors } from '../feed/cursors.ts';
import { PARTITIONS, partOf } from '../feed/partition.ts';
import { toRfc3339 } from '../tasks/task-time.ts';
import { announceEpoch } from './announce-epoch.ts';
import { openLease, type Lease } from './lease.ts';
import { pauseAfter, type RelayPatience } from './patience.ts';
import { createPublisher, type Outcome, type ReadChange } from './publisher.ts';
import type { RelayMetrics } from './relay.metrics.ts';
import { HAS_BACKLOG } from './relay.statements.ts';
import { createWakeUp } from './wake-up.ts';

/** The safety behind the wake-up calls. */
const POLL_MS = 100;
const CLAIM_EVERY_MS = 500;
/** Between two rounds under load: what comes in meanwhile shares the statements of one round. */
const GATHER_MS = 4;
const READ_PER_PART = 500;
const RECONNECT: Pick<RelayPatience, 'firstPauseMs' | 'lastPauseMs'> = { firstPauseMs: 50, lastPauseMs: 1_000 };
/** Notices to other instances, at the most one in so long. */
const NOTICE_SPACING_MS = 5;

export interface RelayDeps {
  database: Pick<Database, 'openSession' | 'run'>;
  eventLog: EventLog;
  cursors: Cursors;
  metrics: RelayMetrics;
  patience: RelayPatience;
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
  /** There is something new of anybody. */
  wakeAll(): void;
  /** Resolves when everything that is committed by now is published. */
  processAll(): Promise<void>;
  /** The parts that this instance works. */
  heldParts(): number[];
  /** Whether the last attempt to publish succeeded. */
  isPublishing(): boolean;
}

/**
 * Brings the change log to the event log: in order for each owner, at least once, whatever fails in between. Each part
 * of the log is worked by the one instance that holds its lock; a change is marked only when the event log has taken it.
 */
export function createRelay(deps: RelayDeps): Relay {
  const { database, eventLog, cursors, metrics, patience, clock, log } = deps;
  const { monotonicMs = () => performance.now(), sleep = timers.setTimeout } = deps;
  const publisher = createPublisher(eventLog, cursors);
  const news = createWakeUp();
  const refusals = new Map<string, number>();
  let stopping = new AbortController();
  let lease: Lease | undefined;
  let failures = 0;
  /** The event log has said that it will never take something of what it was sent. */
  let isSearching = false;
  let noticePending = false;
  let running: Promise<unknown> = Promise.resolve();
  let makingTopic: Promise<void> | undefined;

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  const work = async (): Promise<void> => {
    let tries = 0;
    while (!stopping.signal.aborted) {
      try {
        lease = await openLease(database, { onNews: news.ring, monotonicMs });
        tries = 0;
        refusals.clear(); // it may be another store by now, whose changes have the same ids
        void announce(lease, await lease.epoch());
        await workUnder(lease);
      } catch (error) {
        if (tries++ === 0)
          log.warn({ err: error }, 'the relay has lost its connection; connecting again until it works');
      }
      await lease?.end();
      lease = undefined;
      await pause(pauseAfter(tries, RECONNECT));
    }
  };

  const announce = (current: Lease, epoch: number) =>
    announceEpoch(epoch, {
      eventLog,
      log,
      pause,
      isCurrent: () => lease === current && !current.lost.aborted && !stopping.signal.aborted,
    });

  const workUnder = async (current: Lease): Promise<void> => {
    let claimAt = -Infinity;
    while (!stopping.signal.aborted) {
      if (monotonicMs() >= claimAt) {
        await current.claim();
        claimAt = monotonicMs() + CLAIM_EVERY_MS;
      }
      news.clear(); // before reading: what comes in meanwhile rings again
      const readAt = monotonicMs();
      const changes = current.heldParts().length > 0 ? await current.read(READ_PER_PART) : [];
      if (changes.length === 0) await news.wait(POLL_MS);
      else {
        await relay(current, changes);
        const spareMs = Math.ceil(readAt + GATHER_MS - monotonicMs());
        if (spareMs > 0 && changes.length < READ_PER_PART) await pause(spareMs);
      }
    }
  };

  const relay = async (current: Lease, changes: ReadChange[]): Promise<void> => {
    const isSuspicious = isSearching || failures >= patience.failuresBeforeSuspicion;
    const outcome = isSuspicious
      ? await publisher.publishSingly(changes, current.isSafe, failures)
      : await publisher.publish(changes, current.isSafe);
    if (outcome.published.length > 0) {
      if (outcome.failure === undefined) current.markLater(outcome.published);
      else await current.mark(outcome.published);
      for (const id of outcome.published) refusals.delete(id);
      metrics.published(lagsOf(changes, outcome.published));
    }
    await putAside(current, outcome);
    await afterwards(outcome);
  };

  const lagsOf = (changes: ReadChange[], published: string[]): number[] => {
    const now = clock.now();
    const ids = new Set(published);
    return changes.flatMap(({ id, occurred_at }) => (ids.has(id) ? [now - Date.parse(toRfc3339(occurred_at))] : []));
  };

  const putAside = async (current: Lease, { refused }: Outcome): Promise<void> => {
    for (const { id, reason } of refused) {
      const tries = (refusals.get(id) ?? 0) + 1;
      refusals.set(id, tries);
      if (tries < patience.tries && !isRefusedForGood(reason)) continue;
      await current.bury(id, withCauses(reason));
      refusals.delete(id);
      metrics.buried();
      log.error({ changeId: id, err: reason }, 'the event log refuses a change: put aside as a dead letter');
    }
  };

  const afterwards = async ({ failure, refused }: Outcome): Promise<void> => {
    if (failure === undefined && refused.length === 0) {
      if (failures > 0) log.info({ failures }, 'publishing again');
      failures = 0;
      isSearching = false;
      return;
    }
    failures++;
    metrics.failed();
    const reason = failure ?? refused[0]?.reason;
    // One look at single records finds it; the others need not wait.
    isSearching = !isSearching && isRefusedForGood(reason);
    if (isSearching) return;
    if (failure !== undefined) makeSureOfTopic();
    if (failures === 1) log.warn({ err: reason }, 'cannot publish; trying again until it works');
    await pause(pauseAfter(failures, patience));
  };

  const makeTopic = async (): Promise<void> => {
    for (let tries = 1; !stopping.signal.aborted; tries++) {
      try {
        return await eventLog.ensureTopic(TASK_CHANGES_TOPIC, { partitions: PARTITIONS });
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, 'cannot make the topic yet');
        await pause(pauseAfter(tries, patience));
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
      news.ring();
      await Promise.all([running, makingTopic]);
    },
    wake(ownerId) {
      if (lease?.holds(partOf(ownerId))) news.ring();
      else noticeOthers();
    },
    wakeAll() {
      news.ring();
      noticeOthers();
    },
    async processAll() {
      for (;;) {
        const [row] = await database.run<{ pending: boolean }>('read', HAS_BACKLOG, []);
        if (row?.pending === false) return;
        if (stopping.signal.aborted) throw new Error('The relay is stopped.');
        news.ring();
        await pause(5);
      }
    },
    heldParts: () => lease?.heldParts() ?? [],
    isPublishing: () => failures === 0,
  };
}

/** An error with what was behind it: the log's own refusal says little, its cause names the reason. */
function withCauses(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each !== undefined && each !== null; each = each instanceof Error ? each.cause : undefined)
    texts.push(String(each));
  return texts.join('; ');
}
