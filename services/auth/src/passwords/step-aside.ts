import { constants, setPriority } from 'node:os';

/** Gives the calling thread the lowest priority. Linux has one for each; elsewhere it would be the whole process's. */
export function stepAside(set: typeof setPriority = setPriority): void {
  if (process.platform !== 'linux') return;
  try {
    set(constants.priority.PRIORITY_LOW);
  } catch {
    // A sandbox may forbid it (`SystemCallFilter=~@resources`): then everybody waits alike, but people can sign in.
  }
}
