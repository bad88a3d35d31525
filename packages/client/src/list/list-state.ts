import { keyOfLocal, type Outcome, type Write } from '../writes/write.ts';
import type { Change, KnownTasks } from './known-tasks.ts';
import { overlay, type LiveTask } from './overlay.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';

/** What a list shows. */
export interface ListView {
  tasks: readonly LiveTask[];
  /** The number of all matching tasks, in the list or not. */
  totalCount: number;
  /** Whether there are tasks after the last one. */
  hasMore: boolean;
}

/** A list's tasks on the server, its answers, and the pending writes on top. Knows neither network nor time. */
export interface ListState {
  /** Undefined until the first page has been read, and after `forget`. */
  known(): KnownTasks | undefined;
  /** Starts over with what was read; `pending` are the writes at this moment. */
  begin(known: KnownTasks, pending: readonly Write[]): void;
  forget(): void;
  /** False for a change that was applied before. */
  apply(change: Change): boolean;
  /** Takes the answer to a write. */
  answer(write: Write, outcome: Outcome): void;
  view(pending: readonly Write[]): ListView;
  /** Stops expecting answers that are on their way, and ignores them. */
  rest(pending: readonly Write[]): void;
  /** While answers are expected, the feed's reports are remembered. */
  expectAnswers(expected: boolean): void;
}

const NOTHING: ListView = { tasks: [], totalCount: 0, hasMore: false };

export function createListState(shape: Shape): ListState {
  const compare = comparatorOf(shape.order);
  const answered = new Map<string, Task | null>();
  /**
   * Writes that were sent before the list was read. What was read may include them and later changes, or never will, after
   * a restore. Their answers are ignored, as the feed reports everything that still counts.
   */
  let sentBefore = new Set<string>();
  /** By the server's id, the key in lists of each task that this client created. */
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
  const rest = (pending: readonly Write[]) => {
    unwatch?.();
    unwatch = undefined;
    answered.clear();
    sentBefore = new Set(pending.filter(({ sentAt }) => sentAt !== undefined).map(({ key }) => key));
  };
  /** Drops an answer that the feed has caught up with, or never will. */
  const forgetAnswer = ({ kind, task }: Change) => {
    const answer = answered.get(task.id);
    if (answer === undefined) return;
    const isReported = kind === 'DELETE' || (answer !== null && task.version >= answer.version);
    if (isReported || (!known?.get(task.id) && !(answer && known?.hasPlaceFor(answer)))) answered.delete(task.id);
  };

  return {
    known: () => known,
    begin(next, pending) {
      const isWatching = unwatch !== undefined;
      rest(pending);
      known = next;
      if (isWatching) unwatch = next.watch();
    },
    forget() {
      rest([]);
      known = undefined;
      keys.clear();
    },
    apply(change) {
      if (!known?.apply(change)) return false;
      forgetAnswer(change);
      return true;
    },
    answer({ key, kind }, { id, task }) {
      if (kind === 'create') keys.set(id, key);
      if (sentBefore.delete(key) || !known) return;
      const now = known.get(id);
      if (task && Math.max(known.reported(id)?.task.version ?? 0, now?.version ?? 0) >= task.version) return;
      // The feed does not report tasks here that had no place in the list and have none.
      if (now || (task && known.hasPlaceFor(task))) answered.set(id, task);
    },
    view(pending) {
      if (!known) return NOTHING;
      const base = known;
      const over = overlay(base, answered, pending);
      let total = base.total();
      const tasks = base.all().filter(({ id }) => !over.has(id));
      const result = tasks.map((task) => show(task, false));
      for (const [id, change] of over) {
        total -= Number(base.get(id) !== undefined);
        if (!change || !matches(change.task, shape.filter)) continue;
        total += 1;
        if (base.hasPlaceFor(change.task)) result.push(show(change.task, change.isPending));
      }
      if (over.size > 0) result.sort(compare);
      return { tasks: result, totalCount: total, hasMore: base.hasMore() };
    },
    rest,
    expectAnswers(expected) {
      if (expected) unwatch ??= known?.watch();
      else {
        unwatch?.();
        unwatch = undefined;
      }
    },
  };
}
