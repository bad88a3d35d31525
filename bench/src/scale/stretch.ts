import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../figures.ts';
import type { Cpu } from './model/work.ts';
import type { ScaleStack } from './stack.ts';
import { COUNTS_LATE_MS, type Counts } from './stores.ts';

/** What some work took, until its last change was published. CPU in milliseconds. */
export interface Stretch {
  seconds: number;
  cpu: Cpu;
  relaySession: number;
  /** In a little more time than the CPU's: stores tell their counts late. */
  counts: Counts;
  countedSeconds: number;
}

export async function stretch({ stores, cpu }: ScaleStack, work: () => Promise<unknown>): Promise<Stretch> {
  const counted = { counts: await stores.counts(), countedSeconds: performance.now() / 1_000 };
  const before = await cpu();
  await work();
  while (!(await stores.isPublished())) await sleep(20);
  const after = await cpu();
  await sleep(COUNTS_LATE_MS);
  const now = { counts: await stores.counts(), countedSeconds: performance.now() / 1_000 };
  return combine(
    [
      { ...after, ...now },
      { ...before, ...counted },
    ],
    ([later = 0, earlier = 0]) => later - earlier,
  );
}
