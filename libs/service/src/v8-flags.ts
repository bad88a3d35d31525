import { setFlagsFromString } from 'node:v8';

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
export function setV8Flags(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
}
