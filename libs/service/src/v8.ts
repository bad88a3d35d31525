import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Disables parts of V8 in processes that serve requests (ADR 8). These flags can be set at run time. */
export const V8_FLAGS: readonly string[] = [
  // V8 would allocate rows and result objects as long-lived, which keeps whole requests alive until the next major
  // collection: after some seconds of list requests, each minor collection took three times as long.
  '--no-allocation-site-pretenuring',
  // V8 would release memory 100 s after the last major collection, even in a busy process: a pause of 40 to 55 ms, and
  // more collections until the heap has grown again. `--no-memory-reducer` would have to be set at start.
  '--memory-reducer-gc-count=0',
];

/** Call it first in a process that serves requests. */
export function tuneV8(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
}

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void;

/** Collects all garbage at once. Nothing else runs meanwhile. There is no other way to ask V8 for it. */
export function collectGarbage(flavor: 'regular' | 'last-resort' = 'regular'): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor });
}

/**
 * Gives memory back to the operating system, about 65 MiB after a start: loading modules makes V8's young generation grow to
 * its limit, and it would stay so large. It grows again under load. Nothing else runs meanwhile, some 0.1 s: call it
 * when a start is over (ADR 8).
 */
export function trimMemory(): void {
  collectGarbage('last-resort'); // only this collector of V8's shrinks the young generation
}
