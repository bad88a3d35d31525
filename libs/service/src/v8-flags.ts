import { setFlagsFromString } from 'node:v8';

/** What V8 shall not do in a process that serves requests (ADR 8). All of them work after its start, too. */
export const V8_FLAGS: readonly string[] = [
  // Believe that rows and result objects live long and make them among the old ones, which keeps each whole request until
  // the next major collection: after some seconds of lists every minor collection took three times as long.
  '--no-allocation-site-pretenuring',
  // Give memory back 100 s after the last major collection, however busy the process is: a pause of 40 to 55 ms, and some
  // more collections until the heap has grown again. `--no-memory-reducer` would have to be there at the start.
  '--memory-reducer-gc-count=0',
];

/** To be called first in a process that serves requests. */
export function setV8Flags(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
}
