import { postgresVersion } from '@taskmesh/local';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopPart } from '../machine/processes.ts';
import { prepareUsers } from '../feed/users.ts';
import { populate } from '../load/connections.ts';
import { withMemoryHook } from '../machine/memory.ts';
import type { RunContext } from '../run/benchmark.ts';
import { amount, count, counts, defineOptions, flag } from '../run/options.ts';
import { publish, writeReport } from '../run/report.ts';
import { calibrate, PINGS_EVERY_S } from './calibrate.ts';
import { PROFILE, type Coefficients } from './model.ts';
import { replay, replayDemand, type Replay } from './replay.ts';
import { startScaleStack } from './stack.ts';
import { describeScale, type ScaleReport } from './tables.ts';

/** The run whose figures the documentation shows. */
const MEASURED_FILE = fileURLToPath(new URL('measured.json', import.meta.url));
export const SCALING_DOC = fileURLToPath(new URL('../../../docs/scaling.md', import.meta.url));
/** The number of reading and of writing accounts for REST. */
const ACCOUNTS = 8;
/** How much busier owners are in the mixed load than in the profile: some 150 requests per second. */
const LOAD_FACTOR = 60;

const ABOUT = `
Measures the cost of each kind of work in each part of the stack (PostgreSQL, Redis, Kafka, auth, tasks, gateways), and
whether that predicts the cost of a mixed load with one or more gateways. docs/scaling.md explains how this is used.
`;
const options = defineOptions('scale', ABOUT, {
  gateways: counts('numbers of gateways of the mixed load', [1, 2, 3], [1, 2], 16),
  seconds: amount('length of one phase', [4, 1], { min: 0.5 }),
  replaySeconds: amount('length of the mixed load', [PINGS_EVERY_S, 3]),
  sockets: count('sockets that subscribe', [600, 60], { max: 10_000 }),
  tables: flag('measure nothing; write the tables of docs/scaling.md from the stored figures'),
});
type Options = ReturnType<typeof options.read>;

/** Measures the costs at one gateway, predicts the cost of a mixed load at each stack, and runs it; undefined for tables only. */
async function run(chosen: Options & RunContext) {
  if (chosen.tables) return void publish(SCALING_DOC, describeScale(readMeasured()));
  const { dataDir, log, signal, sockets } = chosen;
  const hookDir = join(dataDir, 'hooks');
  const { env, createUsers } = await prepareUsers(dataDir, withMemoryHook(chosen.env, hookDir), sockets);
  const demand = replayDemand(sockets, { owners: 0, ...PROFILE }, LOAD_FACTOR);
  const replays: Replay[] = [];
  let coefficients: Coefficients | undefined;
  let postgres = '';
  for (const gateways of new Set([1, ...chosen.gateways])) {
    signal.throwIfAborted();
    await using closers = new AsyncDisposableStack();
    log(`Starting a stack with ${gateways === 1 ? 'one gateway' : `${gateways} gateways`} …`);
    const stack = closers.adopt(
      await startScaleStack({ env, gateways, dataDir: join(dataDir, `stack-${gateways}`) }),
      stopPart,
    );
    const population = await populate(stack.urls[0] ?? '', ACCOUNTS);
    const context = { ...chosen, stack, population, createUsers, hookDir };
    coefficients ??= await calibrate(context);
    postgres ||= await postgresVersion(stack.tasksDatabase);
    log('A mixed load …');
    replays.push(await replay({ ...context, demand, coefficients, seconds: chosen.replaySeconds }));
  }
  if (!coefficients) throw new Error('No stack was requested.');
  return { postgres, demand, coefficients, replays };
}

export const readMeasured = (): ScaleReport => JSON.parse(readFileSync(MEASURED_FILE, 'utf8')); // written by a run

export const scale = {
  options,
  run,
  describe: describeScale,
  publish(report: ScaleReport): void {
    writeReport(MEASURED_FILE, report);
    publish(SCALING_DOC, describeScale(report));
  },
};
