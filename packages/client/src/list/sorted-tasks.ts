import type { Task } from './shape.ts';

/** Tasks indexed by id and kept in order. */
export function createSortedTasks(compare: (one: Task, other: Task) => number, initial: Iterable<Task> = []) {
  const byId = new Map<string, Task>();
  for (const task of initial) byId.set(task.id, task);
  let sorted = [...byId.values()].sort(compare);

  /** Returns the index of the task, or where to insert it. */
  const indexOf = (task: Task): number => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = sorted[middle];
      if (there && compare(there, task) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const drop = (id: string) => {
    const task = byId.get(id);
    if (!task) return;
    byId.delete(id);
    sorted = sorted.toSpliced(indexOf(task), 1);
  };
  return {
    get: (id: string): Task | undefined => byId.get(id),
    /** Returns the same array until something changes. */
    all: (): readonly Task[] => sorted,
    /** Inserts the task, or replaces the one with the same id. */
    put(task: Task): void {
      drop(task.id);
      byId.set(task.id, task);
      sorted = sorted.toSpliced(indexOf(task), 0, task);
    },
    drop,
  };
}
