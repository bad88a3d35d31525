import type { TaskChanged } from '@taskmesh/contracts';
import { createSlowSteps } from '@taskmesh/event-log';
import type { FeedPosition, TasksInternal } from '@taskmesh/internal-api';
import { backoffMs, type Log, runInSpan, type Span } from '@taskmesh/service';
import pLimit, { type LimitFunction } from 'p-limit';
import type { FeedMetrics } from '../realtime-metrics.ts';

/** Why a feed ended on its own: the cursor or epoch became invalid, the reader is too slow, or the gateway stops. */
export type FeedEnd = 'expired' | 'slow' | 'stopped';

/** One reader of an owner's changes. No function throws, and all except `drained` return at once. */
export interface FeedReader {
  /** Aborted when its client has gone. */
  signal?: AbortSignal | undefined;
  /** For a reader without a cursor: the cursor at which it begins. Called before any change. */
  onBegin?(cursor: string): void;
  onChange(change: TaskChanged): void;
  /** A replay has ended: live changes follow. */
  onCaughtUp?(): void;
  onEnd(reason: FeedEnd): void;
  /** Resolves when the reader can accept more. Awaited only during a replay, not for live changes. */
  drained(): Promise<void>;
}

export interface OwnerFeedOptions {
  owner: string;
  /** The last change before this feed begins; all its changes are of the same epoch. */
  start: FeedPosition;
  tasks: Pick<TasksInternal, 'changesAfter'>;
  log: Log;
  metrics?: FeedMetrics | undefined;
  /** Starts the span of a change's delivery, if its trace is recorded. */
  beginDelivery: (traceparent: string) => Span | undefined;
  /** Process-wide limits, which bound how many pages are in memory at once. */
  pageLimits: { fill: LimitFunction; replay: LimitFunction };
  /** How long a replay waits until its reader can accept more, in ms. */
  drainWithinMs: number;
  /** Called with any epoch other than the feed's. */
  onEpoch: (epoch: number) => void;
  /** Called when changes that this feed needs are no longer kept. */
  onExpired: () => void;
}

/** Changes per request to the tasks service, which sends fewer if they are large. */
const PAGE = 100;
/** How many replays of one owner hold a page at once; the others wait. */
const MAX_CONCURRENT_REPLAYS = 1;
/** How long a page is kept for a reader that cannot accept more. After that it is fetched again, once the reader can. */
const KEEP_PAGE_MS = 100;
const BACKOFF = { firstMs: 50, maxMs: 1_000 };

interface Attached {
  reader: FeedReader;
  position: number;
  /** True while the reader replays from the log; live changes skip it until it has caught up. */
  isReplaying: boolean;
  /** The size of its next page: at most twice what it accepted of the last one. */
  pageSize: number;
  /** Ends the wait for a reader that has been detached. */
  stopWaiting?: (() => void) | undefined;
}

/**
 * One owner's changes in one epoch, in order, each exactly once. Live records advance the feed one by one; changes
 * missing between or after them come from the tasks service, which has the whole log.
 */
export class OwnerFeed {
  readonly #options: OwnerFeedOptions;
  readonly #epoch: number;
  readonly #readers = new Set<Attached>();
  /** Created when needed: most owners' readers never replay. */
  #limitReplays: LimitFunction | undefined;
  /** The last change delivered to the live readers. */
  #last: number;
  /** Changes are known to exist up to here. */
  #target: number;
  #isFilling = false;
  #isClosed = false;

  constructor(options: OwnerFeedOptions) {
    this.#options = options;
    this.#epoch = options.start.epoch;
    this.#last = options.start.sequence;
    this.#target = options.start.sequence;
  }

  get isUnused(): boolean {
    return this.#readers.size === 0;
  }

  /** The sequence of the last change that was delivered, or of the last before this feed. */
  get last(): number {
    return this.#last;
  }

  /** Adds a reader that has seen everything up to `position`, in this feed's epoch. Returns a function that detaches it. */
  attach(reader: FeedReader, { sequence }: FeedPosition): () => void {
    const attached: Attached = { reader, position: sequence, isReplaying: false, pageSize: PAGE };
    this.#readers.add(attached);
    void this.#replay(attached);
    return () => void this.#detach(attached);
  }

  /** Accepts a record of the event log, with its trace: the next one, a repeated one, or one after a gap. */
  handleChange(change: TaskChanged, traceparent?: string): void {
    const isNext = change.epoch === this.#epoch && change.sequence === this.#last + 1;
    if (isNext) this.#deliver(change, 'event_log', traceparent);
    else this.reach(change);
  }

  /** The store has committed changes up to this position: makes sure that they arrive. */
  reach({ epoch, sequence }: FeedPosition): void {
    if (epoch !== this.#epoch) return;
    this.#target = Math.max(this.#target, sequence);
    if (!this.#isFilling && this.#isLagging()) void this.#fill();
  }

  end(reason: FeedEnd): void {
    this.#isClosed = true;
    for (const attached of [...this.#readers]) this.#end(attached, reason);
  }

  /** Returns false if it was already detached. */
  #detach(attached: Attached): boolean {
    attached.stopWaiting?.();
    return this.#readers.delete(attached);
  }

  #end(attached: Attached, reason: FeedEnd): void {
    if (this.#detach(attached)) attached.reader.onEnd(reason);
  }

  #deliver(change: TaskChanged, way: 'event_log' | 'gap_fill', traceparent = change.traceparent): void {
    this.#options.metrics?.arrived(change, way);
    this.#last = change.sequence;
    if (!traceparent) return this.#notifyLive(change);
    const span = this.#options.beginDelivery(traceparent);
    const deliver = () => {
      this.#logTrace(change, traceparent);
      this.#notifyLive(change);
    };
    if (!span) return deliver();
    runInSpan(span, deliver);
    span.set({ 'taskmesh.feed.way': way });
    span.end();
  }

  #notifyLive(change: TaskChanged): void {
    for (const attached of this.#readers) {
      if (attached.isReplaying || change.sequence <= attached.position) continue;
      this.#notify(attached, change);
    }
  }

  /** A reader that fails is ended, and reconnects; the others must still get the change. */
  #notify(attached: Attached, change: TaskChanged): void {
    attached.position = change.sequence;
    try {
      attached.reader.onChange(change);
    } catch (error) {
      this.#options.log.error({ err: error, changeId: change.id }, 'a reader failed on a change');
      this.#end(attached, 'stopped');
    }
  }

  #logTrace({ sequence }: TaskChanged, traceparent: string): void {
    const { log, owner } = this.#options;
    log.debug({ traceparent, owner, sequence, readers: this.#readers.size }, 'a change is delivered');
  }

  #isLagging(): boolean {
    return this.#last < this.#target && !this.#isClosed;
  }

  async #fill(): Promise<void> {
    const { metrics, pageLimits, onExpired } = this.#options;
    metrics?.gapFilled();
    const fillPage = async () => {
      if (!this.#isLagging()) return true;
      const target = this.#target;
      const changes = await this.#changesAfter(this.#last, PAGE, onExpired);
      const steps = createSlowSteps();
      const deliver = (change: TaskChanged) => {
        if (change.sequence === this.#last + 1) this.#deliver(change, 'gap_fill');
      };
      for (const change of changes ?? []) await steps.run(() => deliver(change));
      // The store has lost the changes up to the target; the feed must not wait for them forever.
      if (changes?.length === 0 && this.#target === target) this.#target = this.#last;
      return Boolean(changes?.length);
    };
    // Checked and set in one synchronous step, so that the next gap begins another fill.
    await repeat(
      () => (this.#isFilling = this.#isLagging()),
      () => pageLimits.fill(fillPage),
    );
  }

  async #replay(attached: Attached): Promise<void> {
    const { pageLimits, drainWithinMs } = this.#options;
    const isNeeded = () => attached.position < this.#last && this.#readers.has(attached);
    let tookMs: number;
    const replayPage = async () => {
      tookMs = 0;
      if (!isNeeded()) return true;
      const begunMs = performance.now();
      // The reader's position became too old during its replay; other readers are not affected.
      const onExpired = () => this.#end(attached, 'expired');
      const before = attached.position;
      const changes = await this.#changesAfter(before, attached.pageSize, onExpired);
      if (!changes?.length) return false;
      tookMs = performance.now() - begunMs;
      tookMs += await this.#sendPage(attached, changes);
      attached.pageSize = Math.min(PAGE, 2 * Math.max(1, attached.position - before));
      return true;
    };
    const replaySome = async () => {
      // While the replay waits here, it holds neither a page nor a slot of a limit.
      if (await isDrained(attached, drainWithinMs)) {
        this.#limitReplays ??= pLimit(MAX_CONCURRENT_REPLAYS);
        const page = Promise.withResolvers<boolean>();
        void this.#limitReplays(() =>
          pageLimits.replay(async () => {
            page.resolve(await replayPage());
            // Leaves half of the time to other work. The reader does not wait for this pause.
            if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs).unref());
          }),
        );
        return page.promise;
      }
      this.#end(attached, 'slow');
      return true;
    };
    const hasReplayed = isNeeded();
    // Checked and set in one synchronous step, so that the next delivery includes this reader.
    await repeat(() => (attached.isReplaying = isNeeded()), replaySome);
    if (hasReplayed && this.#readers.has(attached)) attached.reader.onCaughtUp?.();
  }

  /**
   * Sends as much of a page as the reader accepts. Checks before each change, because a few large ones fill its buffer.
   * Returns how long the reader took to process them, in ms.
   */
  async #sendPage(attached: Attached, changes: TaskChanged[]): Promise<number> {
    const keepUntil = performance.now() + KEEP_PAGE_MS;
    const steps = createSlowSteps();
    for (const change of changes) {
      if (!(await isDrained(attached, Math.max(0, keepUntil - performance.now())))) break;
      if (!this.#readers.has(attached)) break;
      if (change.sequence !== attached.position + 1) continue;
      this.#options.metrics?.replayed(1);
      await steps.run(() => this.#notify(attached, change));
    }
    return steps.tookMs();
  }

  /** At most a page of the log after `sequence`; undefined when it could not be read. */
  async #changesAfter(sequence: number, limit: number, onExpired: () => void): Promise<TaskChanged[] | undefined> {
    const { owner, tasks, log, onEpoch } = this.#options;
    try {
      const page = await tasks.changesAfter(owner, sequence, limit);
      if (page.epoch !== this.#epoch) onEpoch(page.epoch);
      else if (page.expired) onExpired();
      else if ((page.changes[0]?.sequence ?? sequence + 1) === sequence + 1) return page.changes;
    } catch (error) {
      log.warn({ err: error }, 'changes could not be read; trying again');
    }
    return undefined;
  }
}

/** Repeats the work while it is needed, pausing only after failures. */
async function repeat(isNeeded: () => boolean, work: () => Promise<boolean>): Promise<void> {
  let failures = 0;
  while (isNeeded()) {
    if (await work()) failures = 0;
    else if (isNeeded()) {
      const pauseMs = backoffMs(++failures, BACKOFF);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function isDrained(attached: Attached, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (answer: boolean) => {
      clearTimeout(timer);
      if (attached.stopWaiting === stop) attached.stopWaiting = undefined;
      resolve(answer);
    };
    const stop = () => finish(false);
    const timer = setTimeout(stop, withinMs);
    attached.stopWaiting = stop;
    void attached.reader.drained().then(() => finish(true));
  });
}
