/** The Unix time in milliseconds at which every simulation begins. */
const BEGINNING = Date.UTC(2026, 0, 1);

/** Timers this close to each other may run before the promises of the first have settled. */
const SAME_MOMENT_MS = 1;
/** The maximum number of microtask steps between two such timers. */
const MAX_STEPS = 60;

interface Task {
  at: number;
  order: number;
  run: () => void;
  /** The period of an interval. */
  everyMs?: number;
  isCancelled: boolean;
}

/** A virtual clock for all timers of this process, which advances only in `runTo`. */
export type VirtualTime = ReturnType<typeof installVirtualTime>;

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };

type Timers = Record<keyof typeof real, (...args: never[]) => unknown>;

/** Installs virtual time. `random` delays timers by less than a millisecond, so that simultaneous ones run in any order. */
export function installVirtualTime(random: () => number) {
  const tasks: Task[] = [];
  let now = 0;
  let orders = 0;
  let waiting = 0;

  const add = (at: number, run: () => void, everyMs?: number) => {
    const task: Task = { at, order: orders++, run, isCancelled: false, ...(everyMs !== undefined && { everyMs }) };
    waiting++;
    push(tasks, task);
    return Object.assign(task, { unref: () => task, ref: () => task, hasRef: () => true });
  };
  const cancel = (task: Task | undefined) => {
    if (!task || task.isCancelled) return;
    task.isCancelled = true;
    waiting--;
  };
  const later = (ms = 0) => now + Math.max(1, Number.isFinite(ms) ? ms : 1) + random();

  const timers: Timers = {
    setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      add(later(ms), () => run(...args)),
    clearTimeout: cancel,
    setInterval: (run: () => void, ms: number) => add(later(ms), run, ms),
    clearInterval: cancel,
    setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => add(now, () => run(...args)),
    clearImmediate: cancel,
  };
  Object.assign(globalThis, timers);
  const performanceNow = Object.getOwnPropertyDescriptor(performance, 'now');
  Object.defineProperty(performance, 'now', { value: () => now, configurable: true, writable: true });

  return {
    /** Milliseconds since the beginning. */
    now: () => now,
    /** A `Clock`, in Unix milliseconds. */
    clock: { now: () => BEGINNING + Math.floor(now) },
    /** Has the signature of `setTimeout` in timers/promises. */
    sleep: (ms: number, _value?: undefined, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise<void>((resolve, reject) => {
        const task = add(later(ms), () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        const abort = () => {
          cancel(task);
          reject(new Error('aborted'));
        };
        if (signal?.aborted) abort();
        else signal?.addEventListener('abort', abort, { once: true });
      }),
    /** Runs everything that is due up to this time. */
    async runTo(ms: number) {
      // Work that has begun may still have to add its timers.
      await settled();
      for (let task = tasks[0]; task && task.at <= ms; task = tasks[0]) {
        pop(tasks);
        if (task.isCancelled) continue;
        now = Math.max(now, task.at);
        if (task.everyMs === undefined) cancel(task);
        task.run();
        if (task.everyMs !== undefined && !task.isCancelled) {
          task.at = later(task.everyMs);
          push(tasks, task);
        }
        // A timer of the same moment may run before the promises of this one have settled, so that both interleave.
        const [next] = tasks;
        if (!next || next.at > Math.min(ms, now + SAME_MOMENT_MS) || random() < 0.5) await settled();
        else for (let steps = Math.floor(random() * MAX_STEPS); steps > 0; steps--) await Promise.resolve();
      }
      await settled();
      now = ms;
    },
    /** The number of pending timers. */
    pending: () => waiting,
    /** Restores the real timers of the process. */
    uninstall() {
      Object.assign(globalThis, real);
      if (performanceNow) Object.defineProperty(performance, 'now', performanceNow);
      else delete (performance as { now?: unknown }).now; // inherited from the prototype
    },
  };
}

/** Resolves when all pending promises have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

const isBefore = (one: Task, other: Task) => one.at < other.at || (one.at === other.at && one.order < other.order);

/** Adds a task to a binary heap, whose first task is due next. */
function push(heap: Task[], task: Task): void {
  let index = heap.push(task) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (!above || !isBefore(task, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = task;
}

function pop(heap: Task[]): void {
  const task = heap.pop();
  if (!task || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const [one, other] = [heap[left], heap[left + 1]];
    const smaller = other && one && isBefore(other, one) ? left + 1 : left;
    const below = heap[smaller];
    if (!below || !isBefore(below, task)) break;
    heap[index] = below;
    index = smaller;
  }
  heap[index] = task;
}
