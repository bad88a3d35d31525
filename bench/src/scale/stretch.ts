import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../figures.ts';
import type { ScaleStack } from './stack.ts';
import { COUNTS_LATE_MS } from './stores.ts';

export type Stretch = Awaited<ReturnType<typeof stretch>>;

/** What some work took, until its last change was published. CPU in milliseconds. */
export async function stretch({ stores, cpu }: ScaleStack, work: () => Promise<unknown>) {
  /** In a little more time than the CPU's: stores tell their counts late. */
  const counted = async () => ({ counts: await stores.counts(), countedSeconds: performance.now() / 1_000 });
  const countedBefore = await counted();
  const before = { ...(await cpu()), ...countedBefore };
  await work();
  while (!(await stores.isPublished())) await sleep(20);
  const after = await cpu();
  await sleep(COUNTS_LATE_MS);
  return combine([{ ...after, ...(await counted()) }, before], ([later = 0, earlier = 0]) => later - earlier);
}
