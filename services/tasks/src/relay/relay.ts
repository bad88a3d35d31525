import { createSignal, createWorkerHealth, keepWorking } from '@taskmesh/store';
import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import type { EventLog } from '@taskmesh/event-log';
import { backoffMs, type Backoff, type Clock, type Log, type Service } from '@taskmesh/service';
import * as timers from 'node:timers/promises';
import type { Cursors } from '../feed/cursors.ts';
import { PARTITIONS, partOf } from '../feed/change.ts';
import { toRfc3339 } from '../tasks/task-row.ts';
import { announceEpoch } from './announce-epoch.ts';
import { createHeldOwners, type Owed } from './held-owners.ts';
import type { Lease, RelayRepository } from './relay.repository.ts';
import { createPublisher, type Failure, type Outcome, type ReadChange } from './publisher.ts';
import type { RelayMetrics } from '../metrics.ts';

/** A fallback for lost notices. */
const POLL_MS = 100;
const CLAIM_EVERY_MS = 500;
/**
 * The minimum interval of rounds, so that changes share the statements and requests of a round. A round costs as much as ten
 * changes, and more while writers compete for the same cores, so many changes wait a little longer.
 */
const GATHER_MS = { least: 4, most: 10, perChange: 0.5 };
const READ_PER_PART = 500;
/** Enough to notice when publishing works again. */
const READ_PER_PART_IF_STUCK = 20;
/** The maximum number of owners whose changes wait; beyond it nothing new is read. */
const MOST_HELD = 50_000;
const OWED_OWNERS = 50;
/** How often to read from the beginning, in case changes appeared without a notice. */
const READ_ANEW_EVERY_MS = 30_000;
const NOTICE_SPACING_MS = 5;

export interface RelayDeps {
  repository: Pick<RelayRepository, 'openLease' | 'hasBacklog'>;
  eventLog: EventLog;
  cursors: Pick<Cursors, 'seal'>;
  metrics: RelayMetrics;
  backoff: Backoff;
  clock: Clock;
  log: Log;
  /** @default performance.now */
  monotonicMs?: () => number;
  /** @default timers/promises */
  sleep?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<void>;
}

export interface Relay extends Service {
  /** There are new changes of this owner. */
  wake(ownerId: string): void;
  /** Announces the store's new epoch; without a connection, the next one announces it. */
  announce(epoch: number): void;
  wakeAll(): void;
  processAll(): Promise<void>;
  heldParts(): number[];
  /** Whether no change that was tried waits for the event log. */
  isPublishing(): boolean;
  /** For how long it has been unable to read changes; undefined when it can. */
  failingSeconds(): number | undefined;
}

/**
 * Publishes the change log to the event log: in order for each owner, at least once, with any failure. Each part of the
 * log belongs to the one instance that holds its lock; a change is marked only once the event log has taken it.
 */
export function createRelay(deps: RelayDeps): Relay {
  const { repository, eventLog, cursors, metrics, backoff, clock, log } = deps;
  const { monotonicMs = () => performance.now(), sleep = timers.setTimeout } = deps;
  const publisher = createPublisher(eventLog, cursors);
  const news = createSignal();
  const health = createWorkerHealth(monotonicMs);
  const held = createHeldOwners({ backoff, monotonicMs });
  let stopping = new AbortController();
  let lease: Lease | undefined;
  let makeTopicAt = -Infinity;
  let noticePending = false;
  let running: Promise<unknown> = Promise.resolve();
  let makingTopic: Promise<void> | undefined;

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  const work = (): Promise<void> =>
    keepWorking<Lease>({
      signal: stopping.signal,
      async open() {
        lease = await repository.openLease({ onNews: news.notify, monotonicMs });
        held.clear(); // outdated: other relays had the parts, or this is another store
        return lease;
      },
      async work(current, onRound) {
        void announce(current, await current.epoch());
        await workUnder(current, onRound);
      },
      async close(current) {
        await current.end();
        lease = undefined;
      },
      pause,
      health,
      what: 'the relay',
      log,
    });

  const announce = (current: Lease, epoch: number): Promise<void> =>
    announceEpoch(epoch, {
      eventLog,
      log,
      pause,
      isCurrent: () => lease === current && !current.lost.aborted && !stopping.signal.aborted,
    });

  /** `onRound`: all marks so far are written. Unmarked changes are published again after a reconnect. */
  const workUnder = async (current: Lease, onRound: () => void): Promise<void> => {
    let [claimAt, readAnewAt] = [-Infinity, monotonicMs() + READ_ANEW_EVERY_MS];
    let limit = READ_PER_PART;
    for (let rounds = 0; !stopping.signal.aborted; rounds++) {
      if (monotonicMs() >= claimAt) {
        await current.claim();
        claimAt = monotonicMs() + CLAIM_EVERY_MS;
      }
      // With many changes waiting, reading past them would delay new ones.
      if (monotonicMs() >= readAnewAt && held.size() === 0) {
        current.readAnew();
        readAnewAt = monotonicMs() + READ_ANEW_EVERY_MS;
      }
      news.clear(); // cleared before the read, so that later changes give notice again
      const readAt = monotonicMs();
      const { fresh, owed, waiting, isIdle } = await read(current, limit);
      if (rounds > 0) onRound();
      if (isIdle) {
        await news.wait(held.size() > 0 ? Math.min(POLL_MS, backoff.firstMs) : POLL_MS);
        continue;
      }
      const changes = [...fresh, ...waiting]; // this order keeps futile tries from delaying the others
      const outcome = await publisher.publish(changes, current.isSafe);
      const wasSafe = current.isSafe();
      await digest(current, owed, changes, outcome);
      const isVain = outcome.published.length === 0 && outcome.failed.length > 0;
      const isStuck = isVain && fresh.length > 0;
      if (isStuck) limit = READ_PER_PART_IF_STUCK;
      // Nothing of a round is published that takes longer than the session's fence.
      else limit = wasSafe ? Math.min(limit * 2, READ_PER_PART) : Math.ceil(limit / 4);
      if (isStuck) await pause(backoff.firstMs);
      else if (isVain) await news.wait(backoff.firstMs);
      else if (changes.length < READ_PER_PART) {
        const spareMs = Math.ceil(readAt + gatherMs(changes.length) - monotonicMs());
        if (spareMs > 0) await pause(spareMs);
      }
    }
  };

  const read = async (current: Lease, limit: number) => {
    const changes = current.heldParts().length > 0 ? await current.read(held.size() < MOST_HELD ? limit : 0) : [];
    const [behind, fresh] = [[], []] as [ReadChange[], ReadChange[]];
    for (const change of changes) (held.has(change.owner_id) ? behind : fresh).push(change);
    current.pass(behind);
    for (const { owner_id, sequence } of behind) held.goBack(owner_id, Number(sequence));
    const owed = held.due(Math.min(OWED_OWNERS, limit));
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

  /** For an owner that waited, when nothing failed now. `next` is the first change that was not tried. */
  const goOn = ({ ownerId, most }: Owed, changes: ReadChange[], next: ReadChange | undefined): void => {
    const last = changes.at(-1);
    if (next && next === changes[0]) return;
    if (next) held.goOn(ownerId, Number(next.sequence));
    else if (last && (last.is_cut || changes.length === most)) held.goOn(ownerId, Number(last.sequence) + 1);
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
        return await eventLog.ensureTopic(TASK_CHANGES_TOPIC, { partitions: PARTITIONS, signal: stopping.signal });
      } catch (error) {
        if (tries === 1 && !stopping.signal.aborted) log.warn({ err: error }, 'cannot make the topic yet');
        await pause(backoffMs(tries, backoff));
      }
    }
  };

  /** Not only at the start: an event log may lose everything, including the topic. */
  const makeSureOfTopic = (): void => {
    makingTopic ??= makeTopic().finally(() => (makingTopic = undefined));
  };

  const noticeOthers = (): void => {
    if (noticePending) return;
    noticePending = true;
    setTimeout(() => {
      noticePending = false;
      // If a notice is lost, the others find the changes by polling.
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
      while (await repository.hasBacklog()) {
        if (stopping.signal.aborted) throw new Error('The relay is stopped.');
        news.notify();
        await pause(5);
      }
    },
    heldParts: () => lease?.heldParts() ?? [],
    isPublishing: () => held.size() === 0,
    failingSeconds: health.failingSeconds,
  };
}

function gatherMs(changes: number): number {
  return Math.min(Math.max(changes * GATHER_MS.perChange, GATHER_MS.least), GATHER_MS.most);
}

/** An error with its causes: the log's own message says little. */
function withCauses(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each !== undefined && each !== null; each = each instanceof Error ? each.cause : undefined)
    texts.push(String(each));
  return texts.join('; ');
}
