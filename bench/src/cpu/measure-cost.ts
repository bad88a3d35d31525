import { cpuMsOfTrees } from './process-tree.ts';
import type { Role, Target } from '../targets/target.ts';

/** CPU-ms of a target for each of what was counted: by process, and summed by role. */
export interface Cost {
  cpuByPart: Record<string, number>;
  cpuByRole: Record<Role, number>;
}

/** What work costs at a target, with what it leaves to be done in the background. */
export async function measureCost<Found extends object>(
  { parts, settle }: Pick<Target, 'parts' | 'settle'>,
  work: () => Promise<Found>,
  countOf: (found: Found) => number,
): Promise<Found & Cost> {
  const pids = parts.map(({ pid }) => pid);
  await settle();
  const before = cpuMsOfTrees(pids);
  const found = await work();
  await settle();
  const after = cpuMsOfTrees(pids);
  const cpuByPart: Record<string, number> = {};
  const cpuByRole: Record<Role, number> = { server: 0, inner: 0, postgres: 0, redis: 0, kafka: 0 };
  parts.forEach(({ name, role }, index) => {
    cpuByPart[name] = ((after[index] ?? 0) - (before[index] ?? 0)) / countOf(found);
    cpuByRole[role] += cpuByPart[name];
  });
  return { ...found, cpuByPart, cpuByRole };
}
