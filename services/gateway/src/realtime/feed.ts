import { AppError, unavailable } from '@taskmesh/errors';
import { EPOCH_KEY, parseEpochBegan, parseTaskChanged, TASK_CHANGES_TOPIC } from '@taskmesh/events';
import type { FeedPosition, TasksInternal } from '@taskmesh/internal-api';
import type { EventLog, LogReader, LogRecord } from '@taskmesh/messaging';
import type { Log, Service } from '@taskmesh/service';
import { NO_FEED_METRICS, type FeedMetrics } from './metrics.ts';
import { OwnerFeed, type FeedReader } from './owner-feed.ts';
import { createUnreadableReports } from './unreadable-reports.ts';

/** How many owners one question about heads may name. */
const HEADS_BATCH = 1_000;
/** How long a new subscription waits for the tasks service before it fails. */
const PATIENCE_MS = 10_000;

export interface Feed extends Service {
  /**
   * Reads an owner's changes: with a cursor from behind it, without one from now on. Changes come one by one, in order,
   * each once, until the reader is taken off (by the returned function) or ends.
   * @throws AppError CURSOR_EXPIRED when the cursor cannot be used, SERVICE_UNAVAILABLE when the tasks service stays away
   */
  subscribe(owner: string, after: string | undefined, reader: FeedReader): Promise<() => void>;
  /** Owners that are read right now. */
  owners(): number;
}

export interface FeedOptions {
  eventLog: EventLog;
  tasks: TasksInternal;
  log: Log;
  /** How often the heads of all owners are compared. @default 2_000 */
  headsEveryMs?: number;
  metrics?: FeedMetrics;
}

/**
 * Every owner's feed that somebody reads at this gateway. The event log is the quick way; the tasks service knows the
 * truth, and is asked for it when a reader begins, when a gap shows, and every two seconds for all owners at once: so a
 * change that the event log lost is found, also when it was the last one.
 */
export function createFeed(options: FeedOptions): Feed {
  const { eventLog, tasks, log, headsEveryMs = 2_000, metrics = NO_FEED_METRICS } = options;
  const feeds = new Map<string, OwnerFeed>();
  /** Owners whose first reader is still being placed, with the newest change that came by meanwhile. */
  const expected = new Map<string, { readers: number; seen: number }>();
  const unreadable = createUnreadableReports(tasks, log);
  let epoch = 0;
  /** Announced epochs of which the store is being asked. */
  const asked = new Set<number>();
  let reader: LogReader | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** A restore made a new store: no position in the old one means anything. */
  const enterEpoch = (newEpoch: number) => {
    if (newEpoch <= epoch) return;
    const ended = [...feeds.values()];
    feeds.clear();
    epoch = newEpoch;
    for (const feed of ended) feed.end('expired');
  };

  /** The event log only says that it is time to look: the store itself says which epoch it has. */
  const takeEpoch = (record: LogRecord) => {
    const began = parsed(record, parseEpochBegan);
    if (!began || began.epoch <= epoch || asked.has(began.epoch)) return;
    asked.add(began.epoch);
    tasks
      .heads([])
      .then((answer) => enterEpoch(answer.epoch))
      .catch((error: unknown) => log.warn({ err: error }, 'a new epoch could not be confirmed')) // compared again soon
      .finally(() => asked.delete(began.epoch));
  };

  const parsed = <Parsed>(record: LogRecord, parse: (text: string) => Parsed): Parsed | undefined => {
    try {
      return parse(record.value);
    } catch (error) {
      unreadable.add({ key: record.key, value: record.value, reason: reasonOf(error) });
      return undefined;
    }
  };

  const take = (record: LogRecord) => {
    if (record.key === EPOCH_KEY) return takeEpoch(record);
    if (!feeds.has(record.key) && !expected.has(record.key)) return;
    const change = parsed(record, parseTaskChanged);
    // The gap that it leaves is filled from the tasks service: at once, not only when the next change shows it.
    if (!change) return void compareHeadsOf([record.key]).catch(() => undefined);
    enterEpoch(change.epoch);
    if (change.epoch !== epoch) return;
    const waiting = expected.get(change.ownerId);
    if (waiting) waiting.seen = Math.max(waiting.seen, change.sequence);
    feeds.get(change.ownerId)?.take(change);
  };

  /** Runs `place` while changes of the owner are noted, so that none slips through before the feed stands. */
  const expecting = async <Result>(
    owner: string,
    place: () => Promise<Result>,
  ): Promise<{ placed: Result; seen: number }> => {
    const entry = expected.get(owner) ?? { readers: 0, seen: 0 };
    entry.readers++;
    expected.set(owner, entry);
    try {
      return { placed: await place(), seen: entry.seen };
    } finally {
      if (--entry.readers === 0) expected.delete(owner);
    }
  };

  const compareHeadsOf = async (owners: string[]) => {
    const answer = await tasks.heads(owners);
    enterEpoch(answer.epoch);
    for (const [owner, head] of Object.entries(answer.heads)) feeds.get(owner)?.reach(head);
  };

  const compareHeads = async () => {
    const owners = [...feeds.keys()];
    for (let start = 0; start < owners.length; start += HEADS_BATCH)
      await compareHeadsOf(owners.slice(start, start + HEADS_BATCH));
  };

  const scheduleComparison = () => {
    timer = setTimeout(() => {
      compareHeads()
        .catch((error: unknown) => log.warn({ err: error }, 'heads could not be compared'))
        .finally(() => isStopped || scheduleComparison());
    }, headsEveryMs);
  };

  const attach = (owner: string, { sequence, head }: Start, feedReader: FeedReader) => {
    let feed = feeds.get(owner);
    if (!feed) {
      feed = new OwnerFeed({ owner, epoch, start: head, tasks, log, metrics, onEpoch: enterEpoch });
      feeds.set(owner, feed);
    }
    const current = feed;
    // A reader that stands before the feed's last change is replayed to, at its own pace.
    const detach = current.attach(feedReader, sequence);
    current.reach(head);
    return () => {
      detach();
      if (current.isUnused && feeds.get(owner) === current) feeds.delete(owner);
    };
  };

  /** Where a new reader begins, and how far the owner's log goes. */
  const startOf = async (owner: string, after: string | undefined): Promise<Start> => {
    const position = after === undefined ? undefined : await tasks.openCursor(owner, after);
    if (position === null) throw cursorExpired();
    const { epoch: current, heads } = await tasks.heads([owner]);
    enterEpoch(current);
    const head = heads[owner] ?? 0;
    if (!position) return { sequence: head, head };
    if (position.epoch !== current || position.sequence > head) throw cursorExpired();
    await assertKept(tasks, owner, position, head);
    return { sequence: position.sequence, head };
  };

  return {
    async start() {
      reader = eventLog.read(TASK_CHANGES_TOPIC, take);
      scheduleComparison();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      unreadable.stop();
      const ended = [...feeds.values()];
      feeds.clear();
      for (const feed of ended) feed.end('stopped');
      await reader?.stop();
    },
    async subscribe(owner, after, feedReader) {
      if (isStopped) throw unavailable();
      const { placed, seen } = await expecting(owner, () => patiently(() => startOf(owner, after))).catch(
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'CURSOR_EXPIRED') metrics.resumed('expired');
          throw error;
        },
      );
      if (after !== undefined) metrics.resumed('resumed');
      return attach(owner, { ...placed, head: Math.max(placed.head, seen) }, feedReader);
    },
    owners: () => feeds.size,
  };
}

interface Start {
  /** The last change that the reader has seen. */
  sequence: number;
  head: number;
}

async function assertKept(tasks: TasksInternal, owner: string, position: FeedPosition, head: number): Promise<void> {
  if (position.sequence === head) return;
  const { expired } = await tasks.changesAfter(owner, position.sequence, 1);
  if (expired) throw cursorExpired();
}

function cursorExpired(): AppError {
  return new AppError('CURSOR_EXPIRED', 'The cursor cannot be used any more; read the list anew.');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Tries again for a while when the tasks service is away, so that its restart does not end subscriptions that begin. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      if (performance.now() > deadline) throw unavailable(undefined, error);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
