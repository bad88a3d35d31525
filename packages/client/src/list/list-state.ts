import { keyOfLocal, type Outcome, type Write } from '../writes/write.ts';
import type { Change, KnownTasks } from './known-tasks.ts';
import { predictTasks, type LiveTask } from './overlay.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';

/** The contents of a list as it is displayed. */
export interface ListView {
  tasks: readonly LiveTask[];
  /** The number of all matching tasks, loaded or not. */
  totalCount: number;
  /** Whether `loadMore` would find more tasks. */
  hasMore: boolean;
}

const NOTHING: ListView = { tasks: [], totalCount: 0, hasMore: false };

/** Combines the server's tasks, the outcomes of writes that the feed has not reported yet, and pending writes. Does no I/O. */
export function createListState(shape: Shape) {
  const compare = comparatorOf(shape.order);
  const confirmed = new Map<string, Task | null>();
  /**
   * Keys of writes that were sent before the list was read. The list may include them and later changes or, after a restore,
   * never will. Older outcomes are ignored, because the feed reports everything that still applies.
   */
  let sentBefore = new Set<string>();
  /** For each task that this client created: the server's id → the task's key in lists. */
  const keys = new Map<string, string>();
  const shown = new WeakMap<Task, LiveTask>();
  let known: KnownTasks | undefined;
  let unwatch: (() => void) | undefined;

  const show = (task: Task, isPending: boolean): LiveTask => {
    const before = shown.get(task);
    const key = keys.get(task.id) ?? keyOfLocal(task.id) ?? task.id;
    if (before?.isPending === isPending && before.key === key) return before;
    const live = { ...task, key, isPending };
    shown.set(task, live);
    return live;
  };
  /** Stops waiting for responses in flight and ignores them from now on. */
  const stopWaiting = (pending: readonly Write[]) => {
    unwatch?.();
    unwatch = undefined;
    confirmed.clear();
    sentBefore = new Set(pending.filter(({ sentAt }) => sentAt !== undefined).map(({ key }) => key));
  };
  /** Drops an outcome once the feed has caught up with it, or never will. */
  const forgetConfirmed = ({ kind, task }: Change) => {
    const outcome = confirmed.get(task.id);
    if (outcome === undefined) return;
    const isReported = kind === 'DELETE' || (outcome !== null && task.version >= outcome.version);
    if (isReported || (!known?.get(task.id) && !(outcome && known?.includes(outcome)))) confirmed.delete(task.id);
  };

  return {
    /** Undefined until `begin`, and after `forget`. */
    known: (): KnownTasks | undefined => known,
    /** Starts over with a newly read list; `pending` are the writes that are pending at this moment. */
    begin(next: KnownTasks, pending: readonly Write[]) {
      const isWatching = unwatch !== undefined;
      stopWaiting(pending);
      known = next;
      if (isWatching) unwatch = next.trackReports();
    },
    forget(): void {
      stopWaiting([]);
      known = undefined;
      keys.clear();
    },
    /** Returns false if the change had already been applied. */
    apply(change: Change): boolean {
      if (!known?.apply(change)) return false;
      forgetConfirmed(change);
      return true;
    },
    /** Applies the outcome of a write. */
    applyOutcome({ key, kind }: Write, { id, task }: Outcome, isCurrent: boolean): void {
      if (kind === 'create') keys.set(id, key);
      if ((sentBefore.delete(key) && !isCurrent) || !known) return;
      const now = known.get(id);
      if (task && Math.max(known.reported(id)?.task.version ?? 0, now?.version ?? 0) >= task.version) return;
      // The feed never reports a task that was not in the list and is not in it now.
      if (now || (task && known.includes(task))) confirmed.set(id, task);
    },
    view(pending: readonly Write[]): ListView {
      if (!known) return NOTHING;
      const base = known;
      const over = predictTasks(base, confirmed, pending);
      let total = base.total();
      const tasks = base.all().filter(({ id }) => !over.has(id));
      const result = tasks.map((task) => show(task, false));
      for (const [id, change] of over) {
        total -= Number(base.get(id) !== undefined);
        if (!change || !matches(change.task, shape.filter)) continue;
        total += 1;
        if (base.includes(change.task)) result.push(show(change.task, change.isPending));
      }
      if (over.size > 0) result.sort(compare);
      return { tasks: result, totalCount: total, hasMore: base.hasMore() };
    },
    stopWaiting,
    /** Remembers the feed's reports while responses are expected. */
    expectResponses(expected: boolean): void {
      if (expected) unwatch ??= known?.trackReports();
      else {
        unwatch?.();
        unwatch = undefined;
      }
    },
  };
}
