import { Closers } from '@taskmesh/service';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { othersSince } from '../feed/others.ts';
import { createUsers } from '../feed/users.ts';
import { populate } from '../load/population.ts';
import { describeMachine } from '../report/machine.ts';
import { postgresVersion } from '../targets/postgres-version.ts';
import { stackDir } from '../work-dir.ts';
import { calibrate } from './calibrate/calibrate.ts';
import type { Coefficients } from './model/coefficients.ts';
import { PROFILE } from './model/profile.ts';
import type { ScaleOptions } from './options.ts';
import { replay, replayDemand, type Replay } from './replay.ts';
import type { ScaleReport } from './report.ts';
import { startScaleStack } from './stack.ts';

export interface ScaleRunOptions extends ScaleOptions {
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Of REST: each reads, each writes. */
const ACCOUNTS = 8;
/** How much busier the owners of the mixed load are than the profile's: some hundred and fifty requests a second. */
const HURRY = 60;

/** Measures the costs at one gateway, foretells what a mixed load takes at each stack, and tries. */
export async function runScale(options: ScaleRunOptions): Promise<ScaleReport> {
  const { dataDir, env, log, signal, sockets, seconds, gateways: sizes } = options;
  const startedAt = new Date().toISOString();
  const hookDir = join(dataDir, 'hooks');
  mkdirSync(hookDir, { recursive: true });
  const keysFile = join(dataDir, 'keys.json');
  const makeUsers = await createUsers(keysFile);
  const others = othersSince([process.pid]);
  const demand = replayDemand(sockets, { owners: 0, ...PROFILE }, HURRY);
  const replays: Replay[] = [];
  let coefficients: Coefficients | undefined;
  let version = '';
  for (const gateways of sizes) {
    signal.throwIfAborted();
    const closers = new Closers();
    try {
      log(`Starting a stack with ${gateways === 1 ? 'one gateway' : `${gateways} gateways`} …`);
      const stack = await startScaleStack({
        ...options,
        env,
        gateways,
        keysFile,
        hookDir,
        dataDir: stackDir(dataDir, gateways),
      });
      closers.add(() => stack.stop());
      const population = await populate(stack.urls[0] ?? '', ACCOUNTS);
      const run = { ...options, stack, population, createUsers: makeUsers, hookDir };
      coefficients ??= await calibrate(run);
      version ||= await postgresVersion(stack.tasksDatabase);
      log(`A mixed load at ${gateways === 1 ? 'one gateway' : `${gateways} gateways`} …`);
      replays.push(await replay({ ...run, demand, coefficients, seconds: options.replaySeconds }));
    } finally {
      await closers.closeAll();
    }
  }
  if (!coefficients) throw new Error('No stack was asked for.');
  return {
    startedAt,
    machine: describeMachine(version),
    parameters: { seconds, sockets, backlog: options.backlog },
    othersShare: others(),
    demand,
    coefficients,
    replays,
  };
}
