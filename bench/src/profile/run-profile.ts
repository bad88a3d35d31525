import { Closers } from '@taskmesh/service';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import { cellsOf } from '../measure.ts';
import type { Cell } from '../operations.ts';
import type { RunOptions } from '../run-bench.ts';
import { startTargets } from '../targets/start-targets.ts';
import type { Target } from '../targets/target.ts';
import { byLayer } from './layers.ts';
import { signalAll } from './signal-all.ts';
import { summarise, type Summary } from './summary.ts';

const SHOWN = 28;

/** Profiles the servers of the targets under load, prints where their time goes, and keeps the profiles in `resultsDir`. */
export async function runProfile(options: RunOptions & { resultsDir: string }): Promise<void> {
  const { dataDir, env, signal } = options;
  const profileDir = join(dataDir, 'profiles');
  mkdirSync(profileDir, { recursive: true });
  const hook = `--import=${new URL('hook.ts', import.meta.url).href}`;
  const closers = new Closers();
  try {
    const { targets, stop } = await startTargets(options.targets, {
      ...options,
      env: { ...env, NODE_OPTIONS: hook, PROFILE_DIR: profileDir },
    });
    closers.add(stop);
    const load = await startLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    for (const { name, url } of targets) await load.populate(name, url, options.connections);
    for (const operation of options.operations) {
      for (const target of targets) {
        for (const cell of cellsOf(operation, [target])) {
          signal.throwIfAborted();
          await profileCell({ ...options, cell, target, load, profileDir });
        }
      }
    }
  } finally {
    await closers.closeAll();
  }
}

async function profileCell(options: {
  cell: Cell;
  target: Target;
  load: Load;
  seconds: number;
  warmUpSeconds: number;
  profileDir: string;
  resultsDir: string;
  log: (line: string) => void;
}): Promise<void> {
  const { cell, target, load, seconds, warmUpSeconds, profileDir, resultsDir, log } = options;
  const servers = target.parts.filter(({ role }) => role === 'server');
  const pids = servers.map(({ pid }) => pid);
  await load.open(cell);
  await load.run(warmUpSeconds);
  await target.settle();
  await signalAll(pids, profileDir, 'begun');
  const before = cpuMsOfTrees(pids);
  const { requests } = await load.run(seconds);
  await target.settle();
  const after = cpuMsOfTrees(pids);
  await signalAll(pids, profileDir, 'cpuprofile');
  await load.close();

  mkdirSync(resultsDir, { recursive: true });
  servers.forEach(({ name, pid }, index) => {
    const title = `${cell.operation}-${cell.protocol}-${cell.target}-${name}`;
    const text = readFileSync(join(profileDir, `${pid}.cpuprofile`), 'utf8');
    writeFileSync(join(resultsDir, `${title}.cpuprofile`), text);
    const cpuMs = ((after[index] ?? 0) - (before[index] ?? 0)) / requests;
    log(`\n${title}: ${cpuMs.toFixed(3)} CPU-ms per request while profiled (${requests} requests)`);
    log(describeProfile(summarise(JSON.parse(text)), cpuMs));
    for (const ending of ['begun', 'cpuprofile']) rmSync(join(profileDir, `${pid}.${ending}`));
  });
}

/** The dearest of a profile, as shares and in CPU-ms. */
export function describeProfile({ byPart, byFunction, byOwnFunction }: Summary, cpuMs: number): string {
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
