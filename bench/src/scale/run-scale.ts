import { postgresVersion } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { createUsers } from '../feed/users.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import { populate } from '../load/population.ts';
import { describeMachine } from '../report/machine.ts';
import { calibrate } from './calibrate/calibrate.ts';
import { readMeasured, writeDocumentation } from './documentation.ts';
import type { Coefficients } from './model/coefficients.ts';
import { PROFILE } from './model/profile.ts';
import type { ScaleOptions } from './options.ts';
import { replay, replayDemand, type Replay } from './replay.ts';
import { startScaleStack } from './stack.ts';

/** Of REST: each reads, each writes. */
const ACCOUNTS = 8;
/** How much busier the owners of the mixed load are than the profile's: some hundred and fifty requests a second. */
const HURRY = 60;

/** Measures the costs at one gateway, foretells what a mixed load takes at each stack, and tries; undefined for tables only. */
export async function runScale(options: ScaleOptions & Surroundings) {
  if (options.tables) return void writeDocumentation(readMeasured());
  const { dataDir, log, signal, sockets } = options;
  const hookDir = join(dataDir, 'hooks');
  const users = await createUsers(join(dataDir, 'keys.json'));
  const settings = { ...hookSettings('memory', hookDir), ...users.settings };
  const demand = replayDemand(sockets, { owners: 0, ...PROFILE }, HURRY);
  const replays: Replay[] = [];
  let coefficients: Coefficients | undefined;
  let version = '';
  for (const gateways of options.gateways) {
    signal.throwIfAborted();
    await using closers = new Closers();
    const named = gateways === 1 ? 'one gateway' : `${gateways} gateways`;
    log(`Starting a stack with ${named} …`);
    const stackDir = join(dataDir, `stack-${gateways}`);
    const stack = closers.use(await startScaleStack({ ...options, gateways, settings, dataDir: stackDir }));
    const population = await populate(stack.urls[0] ?? '', ACCOUNTS);
    const run = { ...options, stack, population, createUsers: users.create, hookDir };
    coefficients ??= await calibrate(run);
    version ||= await postgresVersion(stack.tasksDatabase);
    log(`A mixed load at ${named} …`);
    replays.push(await replay({ ...run, demand, coefficients, seconds: options.replaySeconds }));
  }
  if (!coefficients) throw new Error('No stack was asked for.');
  return { machine: describeMachine(version), demand, coefficients, replays };
}
