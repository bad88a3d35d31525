import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import {
  createBlockedKeys,
  createOrderedPublisher,
  type BlockedKey,
  type EventLog,
  type FailedItem,
  type PublishOutcome,
} from '@taskmesh/event-log';
import { backoffMs, createFailureLog, pause as waitFor, type Backoff, type Clock, type Log } from '@taskmesh/service';
import * as timers from 'node:timers/promises';
import type { Cursors } from '../feed/cursors.ts';
import { PARTITIONS, partOf, toTaskChanged } from '../feed/change.ts';
import { toRfc3339 } from '../tasks/task-row.ts';
import { MAX_BLOCKED_CHANGES, type Lease, type ReadChange, type RelayRepository } from './relay.repository.ts';
import type { RelayMetrics } from '../metrics.ts';

/** A fallback for lost notifications. */
const POLL_MS = 100;
const CLAIM_EVERY_MS = 500;
/** When the event log accepts nothing for so long, other processes may take the parts: perhaps it is only out of reach for this one. */
const GIVE_UP_AFTER_MS = 10_000;
/**
 * The minimum interval between rounds, so that changes share a round's statements and requests. A round costs as much as ten
 * changes, and more while writers compete for the same cores, so many changes wait a little longer.
 */
const GATHER_MS = { min: 4, max: 10, perChange: 0.5 };
const READ_PER_PART = 500;
/** Enough to notice when publishing works again. */
const READ_PER_PART_IF_STUCK = 20;
/** Maximum number of blocked owners; beyond it, no new changes are read. */
const MAX_BLOCKED = 50_000;
/** Maximum number of blocked owners that are tried per round. */
const MAX_DUE_OWNERS = 50;
const NOTIFY_SPACING_MS = 5;
const RECONNECT: Backoff = { firstMs: 50, maxMs: 1_000 };
/** The size of a record without its two images; most of it is the cursor. */
const OVERHEAD_BYTES = 512;

export interface RelayDeps {
  repository: Pick<RelayRepository, 'openLease'>;
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

/**
 * Publishes the change log to the event log: in order for each owner and at least once, whatever fails. Each part of the log
 * belongs to the one instance that holds its lock. A change is marked only after the event log has accepted it.
 */
export function createRelay(deps: RelayDeps) {
  const { repository, eventLog, cursors, metrics, backoff, clock, log } = deps;
  const { monotonicMs = () => performance.now(), sleep = timers.setTimeout } = deps;
  const publisher = createPublisher(eventLog, cursors);
  const blocked = createBlockedKeys({ pauseMs: (failures) => backoffMs(failures, backoff), monotonicMs });
  let stopping = new AbortController();
  /** Aborted by a notification: if nothing is waiting, it ends the next wait at once. */
  let notified = new AbortController();
  let lease: Lease | undefined;
  let failingSinceMs: number | undefined;
  let claimFrom = -Infinity;
  let ensureTopicAt = -Infinity;
  let isNotifyPending = false;
  let wasReplayed = false;
  let isFailing = false;
  let running: Promise<unknown> = Promise.resolve();
  let creatingTopic: Promise<void> | undefined;

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  const notify = () => notified.abort();

  /** Works under a lease. When it is lost, opens another one, with growing pauses. */
  const work = async (): Promise<void> => {
    let failedAttempts = 0;
    let problem = '';
    const failures = createFailureLog((error) =>
      log.warn({ err: error }, `the relay ${problem}; connecting again until it works`),
    );
    const onRound = () => {
      if (failedAttempts === 0) return;
      failedAttempts = 0;
      failingSinceMs = undefined;
      if (failures.succeeded()) log.info('the relay works again');
    };
    while (!stopping.signal.aborted) {
      try {
        lease = await repository.openLease({ onNotification: notify, onReplay, monotonicMs });
        blocked.clear(); // outdated: other relays had the parts, or the store was replaced
        await workUnder(lease, onRound);
      } catch (error) {
        problem = lease === undefined ? 'cannot connect' : 'has failed, or has lost its connection';
        failedAttempts++;
        failures.failed(error);
        failingSinceMs ??= monotonicMs();
      }
      await lease?.end();
      lease = undefined;
      await pause(backoffMs(failedAttempts, RECONNECT));
    }
  };

  /** A blocked owner may now have an older change than the one that is waiting. */
  const onReplay = () => {
    wasReplayed = true;
    blocked.clear();
    notify();
  };

  /** Calls `onRound` when all marks so far are written. Unmarked changes are published again after a reconnect. */
  const workUnder = async (current: Lease, onRound: () => void): Promise<void> => {
    let [claimAt, failingSince] = [claimFrom, Infinity];
    let limit = 1; // until a mark succeeds: changes that cannot be marked are published again under the next lease
    while (!stopping.signal.aborted) {
      if (monotonicMs() >= claimAt) {
        await current.claim();
        claimAt = monotonicMs() + CLAIM_EVERY_MS;
      }
      notified = new AbortController(); // before the read, so that later changes notify again
      wasReplayed = false;
      const readAt = monotonicMs();
      const { fresh, due, waiting } = await read(current, limit);
      if (fresh.length === 0 && due.length === 0) {
        onRound();
        await waitFor(blocked.size() > 0 ? Math.min(POLL_MS, backoff.firstMs) : POLL_MS, notified.signal);
        continue;
      }
      const changes = [...fresh, ...waiting]; // new changes first, so that futile retries do not delay them
      const outcome = await publisher.publish(changes, current.isSafe);
      const wasSafe = current.isSafe();
      await recordOutcome(current, due, waiting, outcome);
      // This round did not see the older change, and may have blocked its owner at a later one.
      if (wasReplayed) {
        blocked.clear();
        current.restart();
      }
      onRound();
      const nothingPublished = outcome.published.length === 0 && outcome.failed.length > 0;
      // Not while more is to be read, which may be of owners whose changes are accepted: a new lease reads from the beginning.
      const isLast = fresh.length < limit && !fresh.some(({ is_cut }) => is_cut);
      failingSince = nothingPublished && isLast ? Math.min(failingSince, readAt) : Infinity;
      if (monotonicMs() - failingSince > GIVE_UP_AFTER_MS) {
        log.warn({ parts: current.leasedParts() }, 'cannot publish anything; leaving it to others for a moment');
        claimFrom = monotonicMs() + 4 * CLAIM_EVERY_MS;
        return;
      }
      const isStuck = nothingPublished && fresh.length > 0;
      if (isStuck) limit = Math.min(limit * 2, READ_PER_PART_IF_STUCK);
      // A round that takes longer than the session's fence publishes nothing.
      else limit = wasSafe ? Math.min(neededPerPart(fresh, limit) * 2, READ_PER_PART) : Math.ceil(limit / 4);
      if (isStuck) await pause(backoff.firstMs);
      else if (nothingPublished) await waitFor(backoff.firstMs, notified.signal);
      else if (changes.length < READ_PER_PART) {
        const spareMs = Math.ceil(readAt + gatherMs(changes.length) - monotonicMs());
        if (spareMs > 0) await pause(spareMs);
      }
    }
  };

  const read = async (current: Lease, limit: number) => {
    const fresh = blocked.size() < MAX_BLOCKED ? await current.read(limit, blocked.keys()) : [];
    const due = blocked.due(Math.min(MAX_DUE_OWNERS, limit));
    const waiting = due.length > 0 ? await current.readBlocked(due) : [];
    return { fresh, due, waiting };
  };

  const recordOutcome = async (
    current: Lease,
    due: BlockedKey[],
    waiting: ReadChange[],
    outcome: PublishOutcome<ReadChange>,
  ): Promise<void> => {
    const { published, refused, failed } = outcome;
    await current.mark(published.map(({ id }) => id));
    metrics.published(published.map(lagOf));
    for (const failure of refused) await deadLetter(current, failure);
    for (const { item } of failed) blocked.block(item.owner_id, Number(item.sequence));
    const handled = new Set([...published, ...refused.map(({ item }) => item)]);
    const failedOwners = new Set(failed.map(({ item }) => item.owner_id));
    const byOwner = Map.groupBy(waiting, ({ owner_id }) => owner_id);
    for (const { key: ownerId } of due)
      if (!failedOwners.has(ownerId)) advance(current, ownerId, byOwner.get(ownerId) ?? [], handled);
    report(outcome);
  };

  /** Releases a blocked owner with no new failure: its remaining changes are read together with all others. */
  const advance = (current: Lease, ownerId: string, changes: ReadChange[], handled: Set<ReadChange>): void => {
    const left = changes.find((change) => !handled.has(change));
    if (left && left === changes[0]) return; // none of its changes was tried
    const last = changes.at(-1);
    if (left) current.readFrom(left);
    else if (last && (last.is_cut || changes.length === MAX_BLOCKED_CHANGES)) current.readFrom(last);
    blocked.release(ownerId);
  };

  const lagOf = ({ occurred_at }: ReadChange): number => clock.now() - Date.parse(toRfc3339(occurred_at));

  const deadLetter = async (current: Lease, { item: { id }, reason }: FailedItem<ReadChange>): Promise<void> => {
    await current.deadLetter(id, withCauses(reason));
    metrics.deadLettered();
    log.error({ changeId: id, err: reason }, 'the event log refuses a change: put aside as a dead letter');
  };

  const report = ({ published, failed }: PublishOutcome<ReadChange>): void => {
    const wasFailing = isFailing;
    isFailing = blocked.size() > 0;
    if (wasFailing && !isFailing) log.info('publishing everything again');
    if (failed.length === 0) return;
    metrics.failed();
    if (!wasFailing) log.warn({ err: failed[0]?.reason }, 'cannot publish everything; trying again until it works');
    if (published.length === 0 && monotonicMs() >= ensureTopicAt) {
      ensureTopicAt = monotonicMs() + backoff.maxMs;
      ensureTopic();
    }
  };

  const createTopic = async (): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      try {
        return await eventLog.ensureTopic(TASK_CHANGES_TOPIC, { partitions: PARTITIONS, signal: stopping.signal });
      } catch (error) {
        if (attempt === 1 && !stopping.signal.aborted) log.warn({ err: error }, 'cannot create the topic yet');
        await pause(backoffMs(attempt, backoff));
      }
    }
  };

  /** Also called after the start: an event log may lose everything, including the topic. */
  const ensureTopic = (): void => {
    creatingTopic ??= createTopic().finally(() => (creatingTopic = undefined));
  };

  const notifyOthers = (): void => {
    if (isNotifyPending) return;
    isNotifyPending = true;
    setTimeout(() => {
      isNotifyPending = false;
      // If the notification is lost, other instances find the changes by polling.
      lease?.wakeOthers().catch(() => undefined);
    }, NOTIFY_SPACING_MS);
  };

  return {
    async start() {
      stopping = new AbortController();
      ensureTopic();
      running = work();
    },
    async stop() {
      stopping.abort();
      notify();
      await Promise.all([running, creatingTopic]);
    },
    /** Call this when an owner has new changes. */
    wake(ownerId: string): void {
      if (lease?.holds(partOf(ownerId))) notify();
      else notifyOthers();
    },
    wakeAll(): void {
      notify();
      notifyOthers();
    },
    leasedParts: (): number[] => lease?.leasedParts() ?? [],
    /** Whether no change has failed and waits for the event log. */
    isPublishing: () => blocked.size() === 0,
    /** How long the relay has been unable to read changes; undefined while it can. */
    failingSeconds: () => (failingSinceMs === undefined ? undefined : (monotonicMs() - failingSinceMs) / 1_000),
  };
}

const createPublisher = (eventLog: Pick<EventLog, 'publish'>, cursors: Pick<Cursors, 'seal'>) =>
  createOrderedPublisher<ReadChange>({
    eventLog,
    topic: TASK_CHANGES_TOPIC,
    keyOf: ({ owner_id }) => owner_id,
    sizeOf: ({ task, previous }) => Buffer.byteLength(task) + Buffer.byteLength(previous ?? '') + OVERHEAD_BYTES,
    async prepare(change) {
      const { epoch, owner_id: key, traceparent } = change;
      const cursor = await cursors.seal(key, { epoch, sequence: Number(change.sequence) });
      try {
        const value = JSON.stringify(toTaskChanged(change, epoch, cursor));
        return { key, value, ...(traceparent !== null && { headers: { traceparent } }) };
      } catch (refused) {
        return { refused };
      }
    },
  });

/** The limit that would have sufficed: a read measures all changes up to its limit, even those that it leaves out. */
function neededPerPart(fresh: ReadChange[], limit: number): number {
  if (!fresh.some(({ is_cut }) => is_cut)) return limit;
  return Math.max(...[...Map.groupBy(fresh, ({ part }) => part).values()].map(({ length }) => length));
}

function gatherMs(changes: number): number {
  return Math.min(Math.max(changes * GATHER_MS.perChange, GATHER_MS.min), GATHER_MS.max);
}

/** Formats an error with its causes: the event log's own message contains little detail. */
function withCauses(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each !== undefined && each !== null; each = each instanceof Error ? each.cause : undefined)
    texts.push(String(each));
  return texts.join('; ');
}
