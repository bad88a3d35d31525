import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all of this process' garbage, at once. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc'); // contexts that are made from here on have it
  const collect = runInNewContext('gc') as () => void;
  collect();
}
