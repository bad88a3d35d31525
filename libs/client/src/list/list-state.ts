import { keyOfLocal, type Outcome, type Write } from '../writes/write.ts';
import type { Change, KnownTasks } from './known-tasks.ts';
import { overlay, type LiveTask } from './overlay.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';

/** What a list has to show. */
export interface ListView {
  tasks: readonly LiveTask[];
  /** All that match, whether the list has them or not. */
  totalCount: number;
  /** There are tasks behind the last one. */
  hasMore: boolean;
}

/** What the server has told and answered, with the pending writes over it. Knows no network and no time. */
export interface ListState {
  /** Undefined until the first page was read, and after `forget`. */
  known(): KnownTasks | undefined;
  /** Begins anew with what was read; `pending` are the writes at this moment. */
  begin(known: KnownTasks, pending: readonly Write[]): void;
  forget(): void;
  /** False for a change that was told before. */
  apply(change: Change): boolean;
  /** The answer to a write has come. */
  answer(write: Write, outcome: Outcome): void;
  view(pending: readonly Write[]): ListView;
  /** Ends what is kept for answers that are on their way; those that come from now on are passed over. */
  rest(pending: readonly Write[]): void;
  /** Answers may come: what the feed tells meanwhile is kept in mind. */
  expectAnswers(expected: boolean): void;
}

const NOTHING: ListView = { tasks: [], totalCount: 0, hasMore: false };

export function createListState(shape: Shape): ListState {
  const compare = comparatorOf(shape.order);
  const answered = new Map<string, Task | null>();
  /**
   * Of writes that were sent before what is known was read: it may have them, and what came behind them, or be of before
   * them for good, when a backup was restored. Their answers say nothing that the feed will not.
   */
  let sentBefore = new Set<string>();
  /** By the server's id: what a task that this client made is called in its list. */
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
  /** The feed has caught up with an answer, or will not tell it. */
  const forgetAnswer = ({ kind, task }: Change) => {
    const answer = answered.get(task.id);
    if (answer === undefined) return;
    const isTold = kind === 'DELETE' || (answer !== null && task.version >= answer.version);
    if (isTold || (!known?.get(task.id) && !(answer && known?.hasPlaceFor(answer)))) answered.delete(task.id);
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
      if (task && Math.max(known.told(id)?.task.version ?? 0, now?.version ?? 0) >= task.version) return;
      // What has no place here and had none is not told here either.
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
