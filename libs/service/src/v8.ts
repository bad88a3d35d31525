import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Disable parts of V8 in processes that serve requests (ADR 8). They can be set at run time. */
export const V8_FLAGS: readonly string[] = [
  // V8 would allocate rows and result objects as long-lived, which keeps whole requests alive until the next major
  // collection: after some seconds of list requests, each minor collection took three times as long.
  '--no-allocation-site-pretenuring',
  // V8 would release memory 100 s after the last major collection, even in a busy process: a pause of 40 to 55 ms, and
  // more collections until the heap has grown again. `--no-memory-reducer` would have to be set at start.
  '--memory-reducer-gc-count=0',
];

/** Call this first in a process that serves requests. */
export function tuneV8(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
}

/** Returns a text that keeps no other in memory. V8 makes a part of a text, such as a token in a header, keep all of it. */
export const detached = (text: string): string => Buffer.from(text).toString();

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void;

/** Collects all garbage synchronously, which blocks the process. V8 offers no other way to request it. */
export function collectGarbage(flavor: 'regular' | 'last-resort' = 'regular'): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor });
}

/**
 * Returns memory to the operating system, about 65 MiB after startup: loading modules makes V8's young generation grow to
 * its limit, and it would stay that large. It grows again under load. Blocks the process for some 0.1 s: call it at the
 * end of startup (ADR 8).
 */
export function trimMemory(): void {
  collectGarbage('last-resort'); // the only collection that shrinks the young generation
}
