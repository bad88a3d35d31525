import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Gives memory back to the operating system, about 65 MiB after a start: loading modules makes V8's young generation grow to
 * its limit, and it would stay so large. It grows again under load. Nothing else runs meanwhile, some 0.1 s: call it
 * when a start is over (ADR 8).
 */
export function trimMemory(): void {
  // Only this collector of V8's shrinks the young generation, and there is no other way to ask for it.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
