import { performance } from 'node:perf_hooks';
import type { Logger } from './event-log.ts';
import { backoffMs } from './kafka/timing.ts';
import { createSlowSteps } from './slow-steps.ts';

/** The changes of a key are numbered without gaps. A store whose history is replaced, as by a restore, begins a new epoch. */
export interface FeedPosition {
  epoch: number;
  sequence: number;
}

export interface FeedChange extends FeedPosition {
  /** For the log. */
  id?: string;
}

/** Why a feed ended on its own: its position or epoch became invalid, the reader is too slow, or the process stops. */
export type FeedEnd = 'expired' | 'slow' | 'stopped';

/** One reader of a key's changes. No function throws, and all except `drained` return at once. */
export interface FeedReader<Change> {
  onChange(change: Change): void;
  /** A replay has ended: live changes follow. */
  onCaughtUp?(): void;
  onEnd(reason: FeedEnd): void;
  /** Resolves when the reader can accept more. Awaited only during a replay, not for live changes. */
  drained(): Promise<void>;
}

/** Changes as the store has them. */
export interface FeedPage<Change> {
  /** The store's current epoch. */
  epoch: number;
  /** Whether changes after the requested sequence are no longer kept. */
  expired: boolean;
  /** In order, beginning with the next one; empty at the end. */
  changes: Change[];
}

/** Where a change came from: the log, or the store because the log did not bring it. */
export type FeedWay = 'event_log' | 'gap_fill';

type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface KeyFeedOptions<Change extends FeedChange> {
  /** The last change before this feed begins; all its changes are of the same epoch. */
  start: FeedPosition;
  /** Requests changes after a sequence from the store: at most `limit`, fewer if they are large. May reject, and is then called again. */
  changesAfter: (sequence: number, limit: number) => Promise<FeedPage<Change>>;
  log: Pick<Logger, 'warn' | 'error'>;
  /**
   * Called for each live change. May return a function that runs the delivery to all readers, for example within a span. `trace`
   * was passed to `handleChange`.
   */
  beginDelivery?: (
    change: Change,
    way: FeedWay,
    trace: string | undefined,
  ) => ((deliver: () => void) => void) | undefined;
  /** Missing changes are about to be requested. */
  onGap?: (() => void) | undefined;
  /** A change was replayed for a reader. */
  onReplayed?: (() => void) | undefined;
  /** Limits shared by many feeds, which bound how many pages are in memory at once. @default no limit */
  pageLimits?: { fill?: Limit; replay?: Limit };
  /** How long a replay waits until its reader can accept more, in ms. @default 60_000 */
  drainWithinMs?: number | undefined;
  /** Called with any epoch other than the feed's. Until the feed is ended, it asks again and again. */
  onEpoch: (epoch: number) => void;
  /** Called when changes that this feed needs are no longer kept. End the feed. */
  onExpired: () => void;
}

const DRAIN_WITHIN_MS = 60_000;
const { eventLoopUtilization } = performance;
const unlimited: Limit = (work) => work();

/** Changes per request to the store. */
const PAGE = 100;
/** How long a page is kept for a reader that cannot accept more. After that it is fetched again, once the reader can. */
const KEEP_PAGE_MS = 100;

interface Attached<Change> {
  reader: FeedReader<Change>;
  position: number;
  /** True while the reader replays from the log; live changes skip it until it has caught up. */
  isReplaying: boolean;
  /** The size of its next page: at most twice what it accepted of the last one. */
  pageSize: number;
  /** Ends the wait for a reader that has been detached. */
  stopWaiting?: (() => void) | undefined;
}

/**
 * One key's changes in one epoch, in order, each exactly once. Live records advance the feed one by one; changes missing
 * between or after them come from the store, which has all of them.
 */
export class KeyFeed<Change extends FeedChange> {
  readonly #options: KeyFeedOptions<Change>;
  readonly #epoch: number;
  readonly #readers = new Set<Attached<Change>>();
  /** The last of the replays, which hold a page one after the other. Created when needed: most readers never replay. */
  #replays: Promise<void> | undefined;
  /** The last change delivered to the live readers. */
  #last: number;
  /** Changes are known to exist up to here. */
  #target: number;
  #isFilling = false;
  #isClosed = false;

  constructor(options: KeyFeedOptions<Change>) {
    this.#options = options;
    this.#epoch = options.start.epoch;
    this.#last = options.start.sequence;
    this.#target = options.start.sequence;
  }

  /** The number of readers. */
  get readers(): number {
    return this.#readers.size;
  }

  /** The sequence of the last change that was delivered, or of the last before this feed. */
  get last(): number {
    return this.#last;
  }

  /** Adds a reader that has seen everything up to `position`, in this feed's epoch. Returns a function that detaches it. */
  attach(reader: FeedReader<Change>, { sequence }: FeedPosition): () => void {
    const attached: Attached<Change> = { reader, position: sequence, isReplaying: false, pageSize: PAGE };
    this.#readers.add(attached);
    void this.#replay(attached);
    return () => void this.#detach(attached);
  }

  /** Accepts a change from the log: the next one, a repeated one, or one after a gap. `trace` is passed on with it. */
  handleChange(change: Change, trace?: string): void {
    const isNext = change.epoch === this.#epoch && change.sequence === this.#last + 1;
    if (isNext) this.#deliver(change, 'event_log', trace);
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
  #detach(attached: Attached<Change>): boolean {
    attached.stopWaiting?.();
    return this.#readers.delete(attached);
  }

  #end(attached: Attached<Change>, reason: FeedEnd): void {
    if (this.#detach(attached)) attached.reader.onEnd(reason);
  }

  #deliver(change: Change, way: FeedWay, trace?: string): void {
    this.#last = change.sequence;
    const run = this.#options.beginDelivery?.(change, way, trace);
    if (run) run(() => this.#notifyLive(change));
    else this.#notifyLive(change);
  }

  #notifyLive(change: Change): void {
    for (const attached of this.#readers) {
      if (attached.isReplaying || change.sequence <= attached.position) continue;
      this.#notify(attached, change);
    }
  }

  /** A reader that fails is ended, and reconnects; the others must still get the change. */
  #notify(attached: Attached<Change>, change: Change): void {
    attached.position = change.sequence;
    try {
      attached.reader.onChange(change);
    } catch (error) {
      this.#options.log.error({ err: error, changeId: change.id }, 'a reader failed on a change');
      this.#end(attached, 'stopped');
    }
  }

  #isLagging(): boolean {
    return this.#last < this.#target && !this.#isClosed;
  }

  async #fill(): Promise<void> {
    const { onGap, pageLimits: { fill = unlimited } = {}, onExpired } = this.#options;
    onGap?.();
    const fillPage = async () => {
      if (!this.#isLagging()) return true;
      const target = this.#target;
      const changes = await this.#changesAfter(this.#last, PAGE, onExpired);
      const steps = createSlowSteps();
      const deliver = (change: Change) => {
        if (change.sequence === this.#last + 1 && !this.#isClosed) this.#deliver(change, 'gap_fill');
      };
      for (const change of changes ?? []) await steps.run(() => deliver(change));
      // The store has lost the changes up to the target; the feed must not wait for them forever.
      if (changes?.length === 0 && this.#target === target) this.#target = this.#last;
      return Boolean(changes?.length);
    };
    // Checked and set in one synchronous step, so that the next gap begins another fill.
    await repeat(
      () => (this.#isFilling = this.#isLagging()),
      () => fill(fillPage),
    );
  }

  async #replay(attached: Attached<Change>): Promise<void> {
    const { pageLimits: { replay = unlimited } = {}, drainWithinMs = DRAIN_WITHIN_MS } = this.#options;
    const isNeeded = () => attached.position < this.#last && this.#readers.has(attached);
    const replayPage = async () => {
      if (!isNeeded()) return true;
      // The reader's position became too old during its replay; other readers are not affected.
      const onExpired = () => this.#end(attached, 'expired');
      const before = attached.position;
      const changes = await this.#changesAfter(before, attached.pageSize, onExpired);
      if (!changes?.length) return false;
      await this.#sendPage(attached, changes);
      attached.pageSize = Math.min(PAGE, 2 * Math.max(1, attached.position - before));
      return true;
    };
    const replaySome = async () => {
      // While the replay waits here, it holds neither a page nor a slot of a limit.
      if (await isDrained(attached, drainWithinMs)) {
        const page = Promise.withResolvers<boolean>();
        const replayAndPause = async () => {
          const begun = eventLoopUtilization();
          page.resolve(await replayPage());
          // Leaves half of the event loop's time to other work. The reader does not wait for this pause.
          const { active } = eventLoopUtilization(begun);
          await new Promise((resolve) => setTimeout(resolve, active).unref());
        };
        this.#replays = (this.#replays ?? Promise.resolve()).then(() => replay(replayAndPause));
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

  /** Sends as much of a page as the reader accepts. Checks before each change, because a few large ones fill its buffer. */
  async #sendPage(attached: Attached<Change>, changes: Change[]): Promise<void> {
    const keepUntil = performance.now() + KEEP_PAGE_MS;
    const steps = createSlowSteps();
    for (const change of changes) {
      if (!(await isDrained(attached, Math.max(0, keepUntil - performance.now())))) break;
      if (!this.#readers.has(attached)) break;
      if (change.sequence !== attached.position + 1) continue;
      this.#options.onReplayed?.();
      await steps.run(() => this.#notify(attached, change));
    }
  }

  /** At most a page of the log after `sequence`; undefined when it could not be read. */
  async #changesAfter(sequence: number, limit: number, onExpired: () => void): Promise<Change[] | undefined> {
    const { changesAfter, log, onEpoch } = this.#options;
    try {
      const page = await changesAfter(sequence, limit);
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
      const pauseMs = backoffMs(++failures, () => 1);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function isDrained<Change>(attached: Attached<Change>, withinMs: number): Promise<boolean> {
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
