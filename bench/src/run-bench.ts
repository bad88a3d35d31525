import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { measureBesideLogins, ROUND_FACTOR, type BesideLogins } from './beside-logins/measure-beside-logins.ts';
import type { Measured } from './figures.ts';
import { startLoad, type Load } from './load/start-load.ts';
import { cellsOf, measure, populateTargets } from './measure.ts';
import type { TargetName } from './operations.ts';
import type { Options } from './options.ts';
import { describeMachine } from './report/machine.ts';
import type { Report } from './report/report.ts';
import { startTargets } from './targets/start-targets.ts';
import type { Target, TargetOptions } from './targets/target.ts';

/** What a round takes besides its seconds: connections, the look at one answer, changes still to be published. */
const AROUND_A_ROUND_S = 0.2;
/** Beside logins each slice waits for those under way. */
const LOGINS_TAIL_FACTOR = 1.5;
const START_S = 30;

export type RunOptions = Options & TargetOptions & { signal: AbortSignal };

/** The whole comparison: what requests cost at all targets side by side, then lists beside logins at each for itself. */
export async function runBench(options: RunOptions): Promise<Report> {
  const { dataDir, log, targets: names } = options;
  const { connections, rounds, seconds, warmUpSeconds } = options;
  const startedAt = new Date().toISOString();
  log(`This takes about ${duration(estimateSeconds(options))}.`);
  const besideLogins = new Array<BesideLogins>();
  let measured = new Array<Measured>();
  let postgresVersion = '';
  if (options.operations.length > 0) {
    await atTargets(names, options, async ({ targets, load }) => {
      measured = await measure({ ...options, targets, load });
      postgresVersion = targets[0]?.postgresVersion ?? '';
    });
  }
  for (const name of options.besideLogins ? names : []) {
    const apart = { ...options, dataDir: join(dataDir, 'beside-logins') };
    await atTargets([name], apart, async ({ targets: [target], load }) => {
      if (!target) return;
      log(`${name}: lists beside logins …`);
      besideLogins.push(await measureBesideLogins({ ...options, target, load }));
      postgresVersion = target.postgresVersion;
    });
  }
  const machine = describeMachine(postgresVersion);
  return { startedAt, machine, parameters: { connections, rounds, seconds, warmUpSeconds }, measured, besideLogins };
}

/** Does something while these targets, and no others, run and have their accounts and tasks. */
async function atTargets(
  names: readonly TargetName[],
  options: RunOptions,
  work: (running: { targets: Target[]; load: Load }) => Promise<void>,
): Promise<void> {
  const { dataDir, env, log, signal } = options;
  const closers = new Closers();
  try {
    const { targets, stop } = await startTargets(names, { dataDir, env, log, signal });
    closers.add(stop);
    const load = await startLoad(join(dataDir, 'load.log'));
    closers.add(() => load.stop());
    await populateTargets({ ...options, targets, load });
    await work({ targets, load });
  } finally {
    await closers.closeAll();
  }
}

function estimateSeconds({ targets, operations, besideLogins, rounds, seconds, warmUpSeconds }: Options): number {
  const named = targets.map((name) => ({ name }));
  const cells = operations.flatMap((operation) => cellsOf(operation, named)).length;
  const pairs = besideLogins ? targets.length * rounds : 0;
  const forLogins = pairs * 2 * LOGINS_TAIL_FACTOR * (ROUND_FACTOR * seconds + AROUND_A_ROUND_S);
  return START_S + forLogins + cells * (rounds * (seconds + AROUND_A_ROUND_S) + warmUpSeconds + AROUND_A_ROUND_S);
}

function duration(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds / 10) * 10} seconds` : `${(seconds / 60).toFixed(1)} minutes`;
}
