import type { TaskChanged } from '@taskmesh/events';
import type { FeedPosition, TasksInternal } from '@taskmesh/internal-api';
import { backoffMs, type Log } from '@taskmesh/service';
import { within, type Span } from '@taskmesh/telemetry';
import pLimit, { type LimitFunction } from 'p-limit';
import type { FeedMetrics } from './metrics.ts';

/** Why a feed ended that its reader did not end: the cursor or epoch is of no use any more, it reads too slowly, or the gateway stops. */
export type FeedEnd = 'expired' | 'slow' | 'stopped';

/** One reader of an owner's changes. All but `drained` return at once; none of them throws. */
export interface FeedReader {
  /** One that begins now is told behind which cursor that is, before any change. */
  onBegin?(cursor: string): void;
  onChange(change: TaskChanged): void;
  onEnd(reason: FeedEnd): void;
  /** Asked during a replay: resolves when the reader can take more. Live changes do not wait. */
  drained(): Promise<void>;
}

export interface OwnerFeedOptions {
  owner: string;
  /** The last change before this feed begins, and the epoch of all its changes. */
  start: FeedPosition;
  tasks: Pick<TasksInternal, 'changesAfter'>;
  log: Log;
  metrics: FeedMetrics;
  /** The span of a change's delivery, when its trace is recorded. */
  beginDelivery: (traceparent: string) => Span | undefined;
  /** The process' places for pages, so that no more than these are in memory at once. */
  turns: { fill: LimitFunction; replay: LimitFunction };
  /** How long a replay waits until its reader can take more. */
  drainWithinMs: number;
  /** Called with each epoch that is not the feed's. */
  onEpoch: (epoch: number) => void;
  /** Changes that this feed needs are no longer kept. */
  onExpired: () => void;
}

/** How many changes one request to the tasks service brings: a megabyte at the most. */
const PAGE = 100;
/** How many replays of one owner have a page in hand at once; the others wait for their turn. */
const REPLAYS_AT_ONCE = 2;
/** How long a page is kept for a reader that cannot take more of it: then it is asked for again when it can. */
const KEEP_PAGE_MS = 100;
const BACKOFF = { firstMs: 50, longestMs: 1_000 };

interface Attached {
  reader: FeedReader;
  /** The last change that this reader has seen. */
  position: number;
  /** True while the reader still replays from the log; live changes pass it by until it has caught up. */
  isReplaying: boolean;
  /** Ends a wait for the reader, which has gone. */
  stopWaiting?: (() => void) | undefined;
}

/**
 * The changes of one owner in one epoch, in order, each once. Live records move it on one by one; whatever is missing
 * between them, or behind them, comes from the tasks service, which has the whole log.
 */
export class OwnerFeed {
  readonly #options: OwnerFeedOptions;
  readonly #epoch: number;
  readonly #readers = new Set<Attached>();
  readonly #inTurn = pLimit(REPLAYS_AT_ONCE);
  /** The last change that was handed to the live readers. */
  #last: number;
  /** A change up to this one is known to exist. */
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

  /** Adds a reader that has seen everything up to `position`, which is of this feed's epoch; returns how to take it off. */
  attach(reader: FeedReader, { sequence }: FeedPosition): () => void {
    const attached: Attached = { reader, position: sequence, isReplaying: false };
    this.#readers.add(attached);
    void this.#replay(attached);
    return () => void this.#detach(attached);
  }

  /** A record off the event log, and the trace of its publishing: the next one, one seen before, or one behind a gap. */
  take(change: TaskChanged, traceparent?: string): void {
    const isNext = change.epoch === this.#epoch && change.sequence === this.#last + 1;
    if (isNext && !this.#isFilling) this.#deliver(change, 'event_log', traceparent);
    else this.reach(change);
  }

  /** The store has committed changes up to this one: makes sure that they arrive. */
  reach({ epoch, sequence }: FeedPosition): void {
    if (epoch !== this.#epoch) return;
    this.#target = Math.max(this.#target, sequence);
    if (!this.#isFilling && this.#isBehind()) void this.#fill();
  }

  end(reason: FeedEnd): void {
    this.#isClosed = true;
    for (const attached of [...this.#readers]) this.#end(attached, reason);
  }

  /** False when it was taken off before. */
  #detach(attached: Attached): boolean {
    attached.stopWaiting?.();
    return this.#readers.delete(attached);
  }

  #end(attached: Attached, reason: FeedEnd): void {
    if (this.#detach(attached)) attached.reader.onEnd(reason);
  }

  #deliver(change: TaskChanged, way: 'event_log' | 'gap_fill', traceparent = change.traceparent): void {
    this.#options.metrics.arrived(change, way);
    this.#last = change.sequence;
    if (!traceparent) return this.#tellLive(change);
    const span = this.#options.beginDelivery(traceparent);
    const deliver = () => {
      this.#tellTrace(change, traceparent);
      this.#tellLive(change);
    };
    if (!span) return deliver();
    within(span, deliver);
    span.set({ 'taskmesh.feed.way': way });
    span.end();
  }

  #tellLive(change: TaskChanged): void {
    for (const attached of this.#readers) {
      if (attached.isReplaying || change.sequence <= attached.position) continue;
      this.#tell(attached, change);
    }
  }

  /** A reader that fails ends, and comes back; the others must not miss the change for it. */
  #tell(attached: Attached, change: TaskChanged): void {
    attached.position = change.sequence;
    try {
      attached.reader.onChange(change);
    } catch (error) {
      this.#options.log.error({ err: error, changeId: change.id }, 'a reader failed on a change');
      this.#end(attached, 'stopped');
    }
  }

  #tellTrace({ sequence }: TaskChanged, traceparent: string): void {
    const { log, owner } = this.#options;
    log.debug({ traceparent, owner, sequence, readers: this.#readers.size }, 'a change is delivered');
  }

  #isBehind(): boolean {
    return this.#last < this.#target && !this.#isClosed;
  }

  async #fill(): Promise<void> {
    const { metrics, turns, onExpired } = this.#options;
    metrics.gapFilled();
    const fillPage = async () => {
      if (!this.#isBehind()) return true;
      const changes = await this.#changesAfter(this.#last, onExpired);
      for (const change of changes) if (change.sequence === this.#last + 1) this.#deliver(change, 'gap_fill');
      return changes.length > 0;
    };
    // Said in the same step as it is found: whatever comes behind it is a live change again.
    await repeat(
      () => (this.#isFilling = this.#isBehind()),
      () => turns.fill(fillPage),
    );
  }

  async #replay(attached: Attached): Promise<void> {
    const { turns, drainWithinMs } = this.#options;
    const isNeeded = () => attached.position < this.#last && this.#readers.has(attached);
    const replayPage = async () => {
      if (!isNeeded()) return true;
      // Its cursor has become too old while it read; that is nobody else's matter.
      const changes = await this.#changesAfter(attached.position, () => this.#end(attached, 'expired'));
      await this.#handOver(attached, changes);
      return changes.length > 0;
    };
    const replaySome = async () => {
      // Whoever waits here has neither a page nor a turn.
      if (await isDrained(attached, drainWithinMs)) return this.#inTurn(() => turns.replay(replayPage));
      this.#end(attached, 'slow');
      return true;
    };
    // Said in the same step as it is found: whatever is delivered behind it is this reader's next change.
    await repeat(() => (attached.isReplaying = isNeeded()), replaySome);
  }

  /** As much of a page as the reader can take. Also between its changes it is asked: a few large ones fill what may wait. */
  async #handOver(attached: Attached, changes: TaskChanged[]): Promise<void> {
    const keepUntil = performance.now() + KEEP_PAGE_MS;
    for (const change of changes) {
      if (!(await isDrained(attached, Math.max(0, keepUntil - performance.now())))) return;
      if (!this.#readers.has(attached)) return;
      if (change.sequence !== attached.position + 1) continue;
      this.#options.metrics.replayed(1);
      this.#tell(attached, change);
    }
  }

  /** A page of the log behind `sequence`; empty when it could not be had. */
  async #changesAfter(sequence: number, onExpired: () => void): Promise<TaskChanged[]> {
    const { owner, tasks, log, onEpoch } = this.#options;
    try {
      const page = await tasks.changesAfter(owner, sequence, PAGE);
      if (page.epoch !== this.#epoch) onEpoch(page.epoch);
      else if (page.expired) onExpired();
      else if (page.changes[0]?.sequence === sequence + 1) return page.changes;
    } catch (error) {
      log.warn({ err: error }, 'changes could not be read; trying again');
    }
    return [];
  }
}

/** Works for as long as it is needed, without a pause while that succeeds. */
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

/** Whether the reader can take more within so long. */
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
