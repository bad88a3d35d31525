import type { TaskChanged } from '@taskmesh/events';
import type { TasksInternal } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import type { FeedMetrics } from './metrics.ts';

/** Why a feed ended that its reader did not end: the cursor or epoch is of no use any more, or the gateway stops. */
export type FeedEnd = 'expired' | 'stopped';

/** One reader of an owner's changes. `onChange` and `onEnd` return at once; none of them throws. */
export interface FeedReader {
  onChange(change: TaskChanged): void;
  onEnd(reason: FeedEnd): void;
  /** Asked between the pages of a replay: resolves when the reader can take another one. Live changes do not wait. */
  drained(): Promise<void>;
}

export interface OwnerFeedOptions {
  owner: string;
  epoch: number;
  /** The last change before this feed begins. */
  start: number;
  tasks: TasksInternal;
  log: Log;
  metrics: FeedMetrics;
  /** The store turned out to have another epoch. */
  onEpoch: (epoch: number) => void;
}

/** How many changes one request to the tasks service brings. */
const PAGE = 500;
const PAUSE_MS = { first: 50, most: 1_000 };

interface Attached {
  reader: FeedReader;
  /** The last change that this reader has seen. */
  position: number;
  /** True while the reader still replays from the log; live changes pass it by until it has caught up. */
  isReplaying: boolean;
}

/**
 * The changes of one owner, in order, each once. Live records move it on one by one; whatever is missing between them,
 * or behind them, comes from the tasks service, which has the whole log.
 */
export class OwnerFeed {
  readonly #options: OwnerFeedOptions;
  readonly #readers = new Set<Attached>();
  /** The last change that was handed to the live readers. */
  #last: number;
  /** A change up to this one is known to exist. */
  #target: number;
  #isFilling = false;
  #isClosed = false;

  constructor(options: OwnerFeedOptions) {
    this.#options = options;
    this.#last = options.start;
    this.#target = options.start;
  }

  get isUnused(): boolean {
    return this.#readers.size === 0;
  }

  /** Adds a reader that has seen everything up to `position`; returns how to take it off. */
  attach(reader: FeedReader, position: number): () => void {
    const attached: Attached = { reader, position, isReplaying: position < this.#last };
    this.#readers.add(attached);
    if (attached.isReplaying) void this.#replay(attached);
    return () => this.#readers.delete(attached);
  }

  /** A record off the event log: the next one, one seen before, or one behind a gap. */
  take(change: TaskChanged): void {
    if (change.sequence <= this.#last) return;
    if (change.sequence === this.#last + 1 && !this.#isFilling) this.#deliver(change, 'event_log');
    else this.reach(change.sequence);
  }

  /** The store has committed changes up to `sequence`: makes sure that they arrive. */
  reach(sequence: number): void {
    if (sequence <= this.#target && (this.#isFilling || this.#last >= this.#target)) return;
    this.#target = Math.max(this.#target, sequence);
    if (!this.#isFilling) void this.#fill();
  }

  end(reason: FeedEnd): void {
    this.#isClosed = true;
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const { reader } of readers) reader.onEnd(reason);
  }

  #deliver(change: TaskChanged, way: 'event_log' | 'gap_fill'): void {
    this.#options.metrics.arrived(change, way);
    if (change.traceparent) this.#tellTrace(change, change.traceparent);
    this.#last = change.sequence;
    if (this.#target < this.#last) this.#target = this.#last;
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
      this.#readers.delete(attached);
      attached.reader.onEnd('stopped');
    }
  }

  #tellTrace({ sequence }: TaskChanged, traceparent: string): void {
    const { log, owner } = this.#options;
    log.debug({ traceparent, owner, sequence, readers: this.#readers.size }, 'a change is delivered');
  }

  async #fill(): Promise<void> {
    this.#isFilling = true;
    this.#options.metrics.gapFilled();
    while (this.#last < this.#target && !this.#isClosed) {
      const isNeeded = () => this.#last < this.#target;
      const changes = await this.#changesAfter(this.#last, { isNeeded, onExpired: () => this.end('expired') });
      for (const change of changes) if (change.sequence === this.#last + 1) this.#deliver(change, 'gap_fill');
    }
    this.#isFilling = false;
  }

  async #replay(attached: Attached): Promise<void> {
    const { reader } = attached;
    const isNeeded = () => this.#readers.has(attached) && attached.position < this.#last;
    // Its cursor has become too old while it read; that is nobody else's matter.
    const onExpired = () => void (this.#readers.delete(attached) && reader.onEnd('expired'));
    while (isNeeded()) {
      for (const change of await this.#changesAfter(attached.position, { isNeeded, onExpired })) {
        // Also between the changes of a page: a few large ones fill what a reader may have waiting.
        await reader.drained();
        if (!this.#readers.has(attached)) return;
        if (change.sequence !== attached.position + 1) continue;
        this.#options.metrics.replayed(1);
        this.#tell(attached, change);
      }
    }
    // Nothing was awaited since the last look: whatever is delivered from here on is this reader's next change.
    attached.isReplaying = false;
  }

  /** A page of the log behind `sequence`, asked for again until it comes or nobody needs it. */
  async #changesAfter(
    sequence: number,
    { isNeeded, onExpired }: { isNeeded: () => boolean; onExpired: () => void },
  ): Promise<TaskChanged[]> {
    const { owner, epoch, tasks, log, onEpoch } = this.#options;
    for (let pauseMs = PAUSE_MS.first; isNeeded() && !this.#isClosed; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
      try {
        const page = await tasks.changesAfter(owner, sequence, PAGE);
        if (page.epoch !== epoch) onEpoch(page.epoch);
        else if (page.expired) onExpired();
        else if (page.changes[0]?.sequence === sequence + 1) return page.changes;
      } catch (error) {
        log.warn({ err: error }, 'changes could not be read; trying again');
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return [];
  }
}
