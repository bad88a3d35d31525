import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startLoad } from './load/start-load.ts';
import { measureBesideLogins, ROUND_FACTOR } from './beside-logins/measure-beside-logins.ts';
import { cellsOf, measure, populateTargets } from './measure.ts';
import type { Options } from './options.ts';
import { describeMachine } from './report/machine.ts';
import type { Report } from './report/report.ts';
import { startTargets } from './targets/start-targets.ts';
import type { TargetOptions } from './targets/target.ts';

/** What a round takes besides its seconds: connections, the look at one answer, changes still to be published. */
const AROUND_A_ROUND_S = 0.2;
const START_S = 30;

export type RunOptions = Options & TargetOptions & { signal: AbortSignal };

/** The whole comparison. */
export async function runBench(options: RunOptions): Promise<Report> {
  const { dataDir, env, log, signal } = options;
  const { connections, rounds, seconds, warmUpSeconds } = options;
  const startedAt = new Date().toISOString();
  log(`This takes about ${duration(estimateSeconds(options))}.`);
  const closers = new Closers();
  try {
    const { targets, stop } = await startTargets(options.targets, { dataDir, env, log, signal });
    closers.add(stop);
    const load = await startLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    await populateTargets({ ...options, targets, load });
    const measured = await measure({ ...options, targets, load });
    if (options.besideLogins) log('lists beside logins …');
    const besideLogins = options.besideLogins ? await measureBesideLogins({ ...options, targets, load }) : [];
    const machine = describeMachine(targets[0]?.postgresVersion ?? '');
    return { startedAt, machine, parameters: { connections, rounds, seconds, warmUpSeconds }, measured, besideLogins };
  } finally {
    await closers.closeAll();
  }
}

function estimateSeconds({ targets, operations, besideLogins, rounds, seconds, warmUpSeconds }: Options): number {
  const named = targets.map((name) => ({ name }));
  const cells = operations.flatMap((operation) => cellsOf(operation, named)).length;
  const pairs = besideLogins ? targets.length * rounds : 0;
  const forLogins = pairs * 2 * (ROUND_FACTOR * seconds + AROUND_A_ROUND_S);
  return START_S + forLogins + cells * (rounds * (seconds + AROUND_A_ROUND_S) + warmUpSeconds + AROUND_A_ROUND_S);
}

function duration(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds / 10) * 10} seconds` : `${(seconds / 60).toFixed(1)} minutes`;
}
