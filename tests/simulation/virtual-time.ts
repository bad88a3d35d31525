/** Unix milliseconds at which every simulated world begins. */
const BEGINNING = Date.UTC(2026, 0, 1);

/** Answers that come as near to each other may be read in one go. */
const SAME_MOMENT_MS = 1;
/** So many steps of promises one may be ahead of the other. */
const MOST_STEPS = 60;

interface Task {
  at: number;
  order: number;
  run: () => void;
  /** Of an interval. */
  everyMs?: number;
  isCancelled: boolean;
}

/** Time that passes only when it is moved, in which every timer of this process runs. */
export interface VirtualTime {
  /** Since the beginning. */
  now(): number;
  /** Unix milliseconds, as `Clock` has it. */
  clock: { now(): number };
  /** As that of timers/promises. */
  sleep(ms: number, value?: undefined, options?: { signal?: AbortSignal }): Promise<void>;
  /** Runs everything that is due until then. */
  runTo(ms: number): Promise<void>;
  /** Timers that still wait. */
  pending(): number;
  /** Gives the process its own time back. */
  uninstall(): void;
}

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };

type Timers = Record<keyof typeof real, (...args: never[]) => unknown>;

/** `random` makes timers inexact by less than a millisecond, so that what is due at once comes in any order. */
export function installVirtualTime(random: () => number): VirtualTime {
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
    now: () => now,
    clock: { now: () => BEGINNING + Math.floor(now) },
    sleep: (ms, _value, { signal } = {}) =>
      new Promise((resolve, reject) => {
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
    async runTo(ms) {
      // What was begun before may have events to deliver first.
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
        // What is due in the same moment may come before all that this one led to: promises of both run side by side.
        const [next] = tasks;
        if (!next || next.at > Math.min(ms, now + SAME_MOMENT_MS) || random() < 0.5) await settled();
        else for (let steps = Math.floor(random() * MOST_STEPS); steps > 0; steps--) await Promise.resolve();
      }
      await settled();
      now = ms;
    },
    pending: () => waiting,
    uninstall() {
      Object.assign(globalThis, real);
      if (performanceNow) Object.defineProperty(performance, 'now', performanceNow);
      else delete (performance as { now?: unknown }).now; // it is its prototype's
    },
  };
}

/** Everything that only waits for promises has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

const isBefore = (one: Task, other: Task) => one.at < other.at || (one.at === other.at && one.order < other.order);

/** A binary heap: the task that is due next is the first. */
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
