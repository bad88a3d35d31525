import {
  AppError,
  unavailable,
  parseTaskChanged,
  TASK_CHANGES_TOPIC,
  unsealCursor,
  type TaskChanged,
} from '@taskmesh/contracts';
import { errorMessage } from '@taskmesh/contracts/error-details';
import type { FeedPosition, Heads, TasksInternal } from '@taskmesh/internal-api';
import {
  type EventLog,
  type FeedEnd,
  type FeedReader,
  type FeedWay,
  KeyFeed,
  type LogReader,
  type LogRecord,
} from '@taskmesh/event-log';
import { processSpan } from '@taskmesh/service/event-log';
import {
  backoffMs,
  createBulkhead,
  createFairQueue,
  type Log,
  NO_TRACING,
  pause,
  runInSpan,
  type Span,
  type Tracing,
} from '@taskmesh/service';
import { createSecretKey, type KeyObject } from 'node:crypto';
import pLimit from 'p-limit';
import type { FeedMetrics } from '../realtime-metrics.ts';
import { createDeadLetterReports } from './dead-letter-reports.ts';

/** Maximum number of owners in one call of `heads`. */
const HEADS_BATCH = 1_000;
/** How long a new subscription waits for an unavailable tasks service before it fails. */
const RETRY_FOR_MS = 10_000;
/** How much longer it waits while others can begin. */
const QUEUE_MS = 60_000;
const RETRY = { firstMs: 200, maxMs: 1_000 };
/** How many subscriptions of one owner, and of all, begin at once: comparisons and gap fills use the same connections. */
const MAX_CONCURRENT_STARTS = { owner: 4, all: 16 };
/** Minimum time from one comparison to the next that a doubtful record triggers, however many such records arrive. */
const DOUBTS_EVERY_MS = 500;
/** Maximum number of pages in memory at once in this process. Clients may request replays as often as they like. */
const MAX_CONCURRENT_PAGES = { fill: 16, replay: 4 };

/** Of an unreadable record. The tasks service keeps no more, and refuses a request of more than 1 MiB. */
const MAX_REPORTED_CHARACTERS = 64 * 1024;

export type Feed = ReturnType<typeof createFeed>;

/** One reader of an owner's changes. */
export interface OwnerReader extends FeedReader<TaskChanged> {
  /** Aborted when its client has gone. */
  signal?: AbortSignal | undefined;
  /** For a reader without a cursor: the cursor at which it begins. Called before any change. */
  onBegin?(cursor: string): void;
}

export interface FeedOptions {
  eventLog: EventLog;
  tasks: TasksInternal;
  log: Log;
  /** How often the heads of all owners are compared, in ms. @default 2_000 */
  headsEveryMs?: number;
  /** How long a replay waits for its reader before it ends as too slow, in ms. @default 60_000 */
  drainWithinMs?: number;
  metrics?: FeedMetrics;
  /** @default nothing is traced */
  tracing?: Tracing;
  /** From 0 to 1. @default Math.random */
  random?: () => number;
}

/**
 * The feeds of all owners that have readers at this gateway. The event log is the fast path; the tasks service is the
 * source of truth. It is consulted when a reader begins, when a gap shows, and every two seconds for all owners at
 * once. So a change that the event log lost is found, even if it was the last one.
 */
export function createFeed(options: FeedOptions) {
  const { eventLog, tasks, log, metrics, tracing = NO_TRACING, random = Math.random } = options;
  const { headsEveryMs = 2_000, drainWithinMs } = options;
  /** All belong to the current epoch. */
  const feeds = new Map<string, OwnerFeed>();
  /** Owners for whom a reader is being attached, with the newest change that has arrived in the meantime. */
  const expected = new Map<string, { readers: number; seen: FeedPosition }>();
  const pageLimits = { fill: pLimit(MAX_CONCURRENT_PAGES.fill), replay: pLimit(MAX_CONCURRENT_PAGES.replay) };
  const waiting = { maxWaiting: Infinity, maxWaitMs: RETRY_FOR_MS / 2, refusal: () => unavailable() };
  const ownStarts = createBulkhead({ concurrency: MAX_CONCURRENT_STARTS.owner, ...waiting });
  const starts = createFairQueue({ concurrency: MAX_CONCURRENT_STARTS.all, ...waiting });
  const unreadable = createDeadLetterReports(tasks, log);
  let epoch = 0;
  /** Signs the cursors of the current epoch. Undefined until the store has sent it, as Base64. */
  let cursorKey: KeyObject | undefined;
  let sentKey: string | undefined;
  /** The last record that does not seem to come from the store. */
  let doubted: { record: LogRecord; isConfirmed: () => boolean } | undefined;
  let reader: LogReader | undefined;
  let timer: NodeJS.Timeout | undefined;
  let comparedAtMs = -Infinity;
  let isComparing = false;
  let isInDoubt = false;
  let isStopped = false;
  /** When the last reader could begin. */
  let startedMs = -Infinity;

  /** A restore created a new store: positions in the old one are meaningless. */
  const enterEpoch = (newEpoch: number) => {
    if (newEpoch <= epoch) return;
    epoch = newEpoch;
    cursorKey = undefined;
    sentKey = undefined;
    endAll('expired');
  };

  const applyState = ({ epoch: of, cursorKey: key }: Heads) => {
    enterEpoch(of);
    if (of !== epoch || key === undefined || key === sentKey) return;
    // A store that was loaded with psql has another key, but may have the same epoch.
    cursorKey = createSecretKey(key, 'base64');
    sentKey = key;
  };

  const endAll = (reason: FeedEnd) => {
    const ended = [...feeds.values()];
    feeds.clear();
    for (const feed of ended) feed.end(reason);
  };

  const reportUnreadable = ({ key, value }: LogRecord, reason: string) =>
    unreadable.add({ key, value: value.slice(0, MAX_REPORTED_CHARACTERS), reason });

  const tryToParse = <Parsed>(record: LogRecord, parse: (text: string) => Parsed): Parsed | undefined => {
    try {
      return parse(record.value);
    } catch (error) {
      reportUnreadable(record, errorMessage(error));
      return undefined;
    }
  };

  const isOfStore = ({ ownerId, epoch: of, sequence, cursor }: TaskChanged): boolean => {
    const position = cursorKey && unsealCursor(cursorKey, ownerId, cursor);
    return position?.epoch === of && position.sequence === sequence;
  };

  /**
   * A record may come from anyone with write access to the topic, such as another installation without a prefix. So an
   * epoch counts once the store itself reports it, and a change if the store signed its cursor. A false record is not
   * delivered, and has no other effect. Only the cursor is signed: someone who can read and write the topic, and is faster than the
   * store's own record, could falsify the content of one change in its owner's live streams, until the owner reads the task.
   */
  const handleRecord = (record: LogRecord) => {
    const { key } = record;
    const feed = feeds.get(key);
    const waiting = expected.get(key);
    if (!feed && !waiting) return;
    const change = tryToParse(record, (text) => parseChangeOf(key, text));
    if (change && change.epoch < epoch) return;
    if (!change || !isOfStore(change)) return doubt(record, () => !change || change.epoch < epoch || isOfStore(change));
    // Not the change itself, which would be kept as long as the feed.
    if (waiting) waiting.seen = later(waiting.seen, { epoch: change.epoch, sequence: change.sequence });
    feed?.handleChange(change, record.headers?.['traceparent']);
  };

  /** Compares with the store now, instead of waiting until the next change shows the gap. */
  const doubt = (record: LogRecord, isConfirmed: () => boolean) => {
    doubted = { record, isConfirmed };
    compareSoon();
  };

  const compareHeadsOf = async (owners: string[]) => {
    // Positions before the call: changes committed and delivered during the call must not look like lost ones.
    const delivered = owners.map((owner) => ({ owner, feed: feeds.get(owner), last: feeds.get(owner)?.last ?? 0 }));
    const inDoubt = doubted;
    const state = await tasks.heads(owners);
    const { epoch: of, heads } = state;
    applyState(state);
    if (inDoubt && inDoubt === doubted && cursorKey) {
      doubted = undefined;
      if (!inDoubt.isConfirmed()) reportUnreadable(inDoubt.record, 'The store did not write this record.');
    }
    for (const { owner, feed, last } of delivered) {
      if (!feed || feeds.get(owner) !== feed || of !== epoch) continue;
      const head = heads[owner] ?? 0;
      if (head >= last) feed.reach({ epoch: of, sequence: head });
      else return onLostChanges();
    }
  };

  /**
   * The store has lost changes that it signed, as after failover to a standby that lagged behind. It reuses their numbers for
   * new changes, which would be taken for repetitions, even for owners whose head no longer shows the loss.
   */
  const onLostChanges = () => {
    log.error('the store has lost changes that were delivered: all feeds end; begin a new epoch (docs/backup.md)');
    endAll('expired');
  };

  const compareHeads = async () => {
    const owners = [...feeds.keys()];
    for (let start = 0; start < owners.length; start += HEADS_BATCH)
      await compareHeadsOf(owners.slice(start, start + HEADS_BATCH));
  };

  const compareIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void compareAndReschedule(), ms);
  };
  const doubtsInMs = () => Math.max(0, comparedAtMs + DOUBTS_EVERY_MS - performance.now());

  const compareAndReschedule = async () => {
    isComparing = true;
    isInDoubt = false;
    comparedAtMs = performance.now();
    await compareHeads().catch((error: unknown) => log.warn({ err: error }, 'heads could not be compared'));
    isComparing = false;
    if (!isStopped) compareIn(isInDoubt ? doubtsInMs() : headsEveryMs);
  };

  const compareSoon = () => {
    isInDoubt = true;
    if (!isComparing && !isStopped) compareIn(doubtsInMs());
  };

  const finish = (owner: string, feed: OwnerFeed, reason: FeedEnd) => {
    if (feeds.get(owner) === feed) feeds.delete(owner);
    feed.end(reason);
  };

  const begin = (owner: string, start: FeedPosition): OwnerFeed => {
    const feed: OwnerFeed = new KeyFeed<TaskChanged>({
      start,
      changesAfter: (sequence, limit) => tasks.changesAfter(owner, sequence, limit),
      log,
      beginDelivery(change, way, recorded) {
        metrics?.arrived(change, way);
        const traceparent = recorded ?? change.traceparent;
        if (!traceparent) return undefined;
        const span = tracing.continueTrace(traceparent, () => processSpan(eventLog, TASK_CHANGES_TOPIC));
        const fields = { traceparent, owner, sequence: change.sequence, readers: feed.readers };
        return (deliver) =>
          inDeliverySpan(span, way, () => {
            log.debug(fields, 'a change is delivered');
            deliver();
          });
      },
      onGap: metrics?.gapFilled,
      onReplayed: () => metrics?.replayed(1),
      pageLimits,
      drainWithinMs,
      onEpoch: enterEpoch,
      onExpired: () => finish(owner, feed, 'expired'),
    });
    feeds.set(owner, feed);
    return feed;
  };

  /** Returns undefined when a restore or the stop came in between, which invalidates the start. */
  const attach = (
    owner: string,
    { position, head, cursor }: Start,
    feedReader: OwnerReader,
  ): (() => void) | undefined => {
    if (isStopped || position.epoch !== epoch || head.epoch !== epoch) return undefined;
    const feed = feeds.get(owner) ?? begin(owner, head);
    if (cursor !== undefined) feedReader.onBegin?.(cursor);
    // A reader behind the feed's last change gets a replay at its own pace.
    const detach = feed.attach(feedReader, position);
    feed.reach(head);
    return () => {
      detach();
      if (feed.readers === 0) finish(owner, feed, 'stopped');
    };
  };

  /** Where a new reader begins, and how far the owner's log reaches. */
  const startOf = async (owner: string, after: string | undefined): Promise<Start> => {
    const position = after === undefined ? undefined : await tasks.openCursor(owner, after);
    if (position === null) throw cursorExpired();
    const state = await tasks.heads([owner], after === undefined);
    const { epoch: of, heads, cursors } = state;
    applyState(state);
    if (of !== epoch) throw unavailable(); // the response predates a restore that we already know of
    const head = { epoch: of, sequence: heads[owner] ?? 0 };
    if (!position) return { position: head, head, cursor: cursors?.[owner] };
    if (position.epoch !== of || position.sequence > head.sequence) throw cursorExpired();
    if (position.sequence < head.sequence) {
      const page = await tasks.changesAfter(owner, position.sequence, 1);
      enterEpoch(page.epoch);
      if (page.expired) throw cursorExpired();
    }
    return { position, head };
  };

  /** Tracks the owner's changes in the meantime, so that none is lost before the feed exists. */
  const startReader = async (owner: string, after: string | undefined, feedReader: OwnerReader) => {
    const entry = expected.get(owner) ?? { readers: 0, seen: { epoch, sequence: 0 } };
    entry.readers++;
    expected.set(owner, entry);
    try {
      const { signal } = feedReader;
      const begunMs = performance.now();
      // When thousands resume at once, those at the end wait for longer. Time counts only while none of them can begin.
      const since = () => Math.max(begunMs, Math.min(startedMs, begunMs + QUEUE_MS));
      const run = () => starts.run(owner, () => startOf(owner, after), signal);
      const start = await retryWhileUnavailable(() => ownStarts.run(owner, run, { signal }), { since, random, signal });
      startedMs = performance.now();
      const { head } = start;
      const isNewer = entry.seen.epoch === head.epoch && entry.seen.sequence > head.sequence;
      return attach(owner, { ...start, head: isNewer ? entry.seen : head }, feedReader);
    } catch (error) {
      if (error instanceof AppError && error.code === 'CURSOR_EXPIRED') metrics?.resumed('expired');
      throw error;
    } finally {
      if (--entry.readers === 0) expected.delete(owner);
    }
  };

  return {
    async start() {
      reader = eventLog.read(TASK_CHANGES_TOPIC, handleRecord);
      compareIn(headsEveryMs);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      unreadable.stop();
      endAll('stopped');
      await reader?.stop();
    },
    /**
     * Reads an owner's changes: those after the cursor or, without one, from now on. They arrive one by one, in order,
     * each exactly once, until the reader ends or the returned function is called.
     * @throws AppError CURSOR_EXPIRED when the cursor is unusable, SERVICE_UNAVAILABLE when the tasks service stays
     * unavailable
     */
    async subscribe(owner: string, after: string | undefined, feedReader: OwnerReader) {
      for (;;) {
        if (isStopped) throw unavailable();
        const detach = await startReader(owner, after, feedReader);
        if (detach && after !== undefined) metrics?.resumed('resumed');
        if (detach) return detach;
      }
    },
    /** How many owners have readers right now. */
    owners: (): number => feeds.size,
  };
}

type OwnerFeed = KeyFeed<TaskChanged>;

function inDeliverySpan(span: Span | undefined, way: FeedWay, deliver: () => void): void {
  if (!span) return deliver();
  runInSpan(span, deliver);
  span.set({ 'taskmesh.feed.way': way });
  span.end();
}

interface Start {
  /** The last change that the reader has seen. */
  position: FeedPosition;
  head: FeedPosition;
  /** The cursor for a reader that came without one. */
  cursor?: string | undefined;
}

/** Any position of a newer epoch is later than all of an older one. */
function later(one: FeedPosition, other: FeedPosition): FeedPosition {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch ? one : other;
  return one.sequence >= other.sequence ? one : other;
}

/** @throws unless the change belongs to this owner alone */
function parseChangeOf(owner: string, text: string): TaskChanged {
  const change = parseTaskChanged(text);
  for (const { ownerId } of [change, change.task, change.previous ?? change.task])
    if (ownerId !== owner) throw new Error('The key is not the owner of the change.');
  return change;
}

function cursorExpired(): AppError {
  return new AppError('CURSOR_EXPIRED', 'The cursor can no longer be used; read the list again.');
}

/** Retries until the tasks service has been unavailable for a while, so that its restart does not fail new subscriptions. */
async function retryWhileUnavailable<Result>(
  work: () => Promise<Result>,
  { since, random, signal }: { since: () => number; random: () => number; signal?: AbortSignal | undefined },
) {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      if (signal?.aborted || performance.now() > since() + RETRY_FOR_MS) throw unavailable(undefined, error);
      await pause(backoffMs(failures, RETRY, random), signal);
    }
  }
}
