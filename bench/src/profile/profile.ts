import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULTS } from '../benchmark.ts';
import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { digits } from '../figures.ts';
import { askHooks } from '../hooks/ask-hook.ts';
import { byLayer } from './layers.ts';
import { summarise, type Summary } from './summary.ts';

const SHOWN = 28;

/** Profiles servers that have the hook while something is done, says where their time goes, and keeps the profiles. */
export async function profile(options: {
  servers: readonly { title: string; pid: number }[];
  hookDir: string;
  /** Resolves with how much was done. */
  work: () => Promise<number>;
  /** What is counted: `request` */
  unit: string;
  log: (line: string) => void;
}): Promise<void> {
  const { servers, hookDir, work, unit, log } = options;
  const pids = servers.map(({ pid }) => pid);
  await askHooks(pids, hookDir);
  const before = cpuMsOfTrees(pids);
  const count = await work();
  const after = cpuMsOfTrees(pids);
  const profiles = await askHooks(pids, hookDir);
  mkdirSync(RESULTS, { recursive: true });
  servers.forEach(({ title }, index) => {
    const text = profiles[index] ?? '';
    writeFileSync(join(RESULTS, `${title}.cpuprofile`), text);
    const cpuMs = ((after[index] ?? 0) - (before[index] ?? 0)) / count;
    log(`\n${title}: ${digits(cpuMs)} CPU-ms per ${unit} while profiled (${count} ${unit}s)`);
    log(describeProfile(summarise(JSON.parse(text)), cpuMs));
  });
}

/** The dearest of a profile, as shares and in CPU-ms. */
function describeProfile({ byPart, byFunction, byOwnFunction }: Summary, cpuMs: number): string {
  const lines = (title: string, shares: [string, number][]) => [
    `  ${title}`,
    ...shares
      .slice(0, SHOWN)
      .map(([name, share]) => `    ${(share * 100).toFixed(1).padStart(5)} %  ${(share * cpuMs).toFixed(4)}  ${name}`),
  ];
  return [
    ...lines('by layer', byLayer(byPart)),
    ...lines('by package', byPart),
    ...lines('by function, itself', byFunction),
    ...lines('by function of ours, with all it calls', byOwnFunction),
  ].join('\n');
}
