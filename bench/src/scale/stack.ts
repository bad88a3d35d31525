import { startStack, type Stack } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { socketSettings } from '../feed/targets.ts';
import { sumOf } from '../figures.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import type { TargetOptions } from '../targets/target.ts';
import { tasksDatabaseOn } from '../targets/tasks-database.ts';
import { PARTS, type Cpu, type Part } from './model/work.ts';
import { openStores, type Stores } from './stores.ts';

export interface ScaleStackOptions extends TargetOptions {
  gateways: number;
  sockets: number;
  settings: Record<string, string>;
}

export type ScaleStack = Awaited<ReturnType<typeof startScaleStack>>;

/** A whole stack, and what its parts take. */
export async function startScaleStack({ dataDir, gateways, ...options }: ScaleStackOptions) {
  const env = { ...targetEnvironment(options.env), ...options.settings, ...socketSettings(options.sockets) };
  await using closers = new Closers();
  const stack = closers.use(await startStack({ dataDir, env, gateways, log: () => undefined, restart: false }));
  const { postgres, kafka, redis } = stack.servers;
  const tasksDatabase = tasksDatabaseOn(postgres);
  const stores = await openStores({ tasksDatabase, redis, kafkaDir: join(dataDir, 'kafka') });
  closers.add(() => stores.close());
  return {
    ...{ urls: stack.urls, tasksDatabase, kafka, stores },
    gatewayPids: pidsOf(stack, 'gateway'),
    /** Since the processes began, and of the one session in which the relay reads and marks. */
    cpu: () => cpuOfStack(stack, stores),
    stop: closers.handOver(),
  };
}

async function cpuOfStack(stack: Stack, stores: Stores) {
  const session = await stores.relaySession();
  const pids = PARTS.map((part) => pidsOf(stack, part));
  const [relaySession = 0, ...times] = cpuMsOfTrees([session, ...pids.flat()]);
  const cpu = Object.fromEntries(PARTS.map((part, index) => [part, sumOf(times.splice(0, pids[index]?.length))]));
  return { seconds: performance.now() / 1_000, cpu: cpu as Cpu, relaySession }; // all of the parts
}

function pidsOf(stack: Stack, part: Part): number[] {
  const processes = [...stack.processes.values()];
  return processes.filter(({ name }) => name.replace(/-\d+$/, '') === part).map(({ pid }) => pid);
}
