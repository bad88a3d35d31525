import { AppError, unavailable, TASK_CHANGES_TOPIC, unsealCursor, type TaskChanged } from '@taskmesh/contracts';
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
import { type Log, NO_TRACING, runInSpan, type Span, type Tracing } from '@taskmesh/service';
import { createSecretKey, type KeyObject } from 'node:crypto';
import pLimit from 'p-limit';
import type { FeedMetrics } from '../realtime-metrics.ts';
import { createRecordReader } from './records.ts';
import { createStarts, type Start } from './starts.ts';

/** Maximum number of owners in one call of `heads`. */
const HEADS_BATCH = 1_000;
/** Minimum time from one comparison to the next that a doubtful record triggers, however many such records arrive. */
const DOUBTS_EVERY_MS = 500;
/** Maximum number of pages in memory at once in this process. Clients may request replays as often as they like. */
const MAX_CONCURRENT_PAGES = { fill: 16, replay: 4 };

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
  const records = createRecordReader(tasks, log);
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

  /** A restore created a new store: positions in the old one are meaningless. */
  const enterEpoch = (newEpoch: number) => {
    if (newEpoch <= epoch) return;
    epoch = newEpoch;
    cursorKey = undefined;
    sentKey = undefined;
    endAll('expired');
  };

  /** Returns whether it is the state of the current epoch. */
  const applyState = ({ epoch: of, cursorKey: key }: Heads): boolean => {
    enterEpoch(of);
    if (of !== epoch) return false;
    if (key === undefined || key === sentKey) return true;
    // A store that was loaded with psql has another key, but may have the same epoch.
    cursorKey = createSecretKey(key, 'base64');
    sentKey = key;
    return true;
  };

  const findStart = createStarts({ tasks, applyState, enterEpoch, random });

  const endAll = (reason: FeedEnd) => {
    const ended = [...feeds.values()];
    feeds.clear();
    for (const feed of ended) feed.end(reason);
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
    const change = records.read(record);
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
    const [inDoubt, known] = [doubted, epoch];
    const state = await tasks.heads(owners);
    const { epoch: of, heads } = state;
    applyState(state);
    if (of < known) return onLostChanges();
    if (inDoubt && inDoubt === doubted && cursorKey) {
      doubted = undefined;
      if (!inDoubt.isConfirmed()) records.report(inDoubt.record, 'The store did not write this record.');
    }
    for (const { owner, feed, last } of delivered) {
      if (!feed || feeds.get(owner) !== feed || of !== epoch) continue;
      const head = heads[owner] ?? 0;
      if (head >= last) feed.reach({ epoch: of, sequence: head });
      else return onLostChanges();
    }
  };

  /**
   * The store has lost changes that it signed, as after failover to a standby that lagged behind, or even its epoch. It reuses their
   * numbers for new changes, which would be taken for repetitions, even for owners whose head no longer shows the loss.
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

  /** Tracks the owner's changes in the meantime, so that none is lost before the feed exists. */
  const startReader = async (owner: string, after: string | undefined, feedReader: OwnerReader) => {
    const entry = expected.get(owner) ?? { readers: 0, seen: { epoch, sequence: 0 } };
    entry.readers++;
    expected.set(owner, entry);
    try {
      const start = await findStart(owner, after, feedReader.signal);
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
      records.stop();
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

/** Any position of a newer epoch is later than all of an older one. */
function later(one: FeedPosition, other: FeedPosition): FeedPosition {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch ? one : other;
  return one.sequence >= other.sequence ? one : other;
}
