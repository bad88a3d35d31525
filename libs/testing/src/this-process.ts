import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * What a Node process needs of this one's environment when a test chooses the rest: where programs are, and what V8 has
 * compiled before, without which it takes half as long again to start.
 */
export function nodeEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** Collects all of this process' garbage, at once. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc'); // contexts that are made from here on have it
  const collect = runInNewContext('gc') as () => void;
  collect();
}
