import { databaseUrl, serviceDatabase, startStack, type Stack } from '@taskmesh/local';
import { join } from 'node:path';
import { cpuMsOfTrees } from '../cpu/process-tree.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import { openStores, type Stores } from './stores.ts';
import { noCpu, PARTS, type Cpu, type Part } from './model/work.ts';

export interface ScaleStackOptions {
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  gateways: number;
  keysFile: string;
  /** Where the memory hooks write. */
  hookDir: string;
  sockets: number;
}

/** A whole stack, and what its parts take. */
export interface ScaleStack {
  urls: string[];
  tasksDatabase: string;
  kafka: string;
  stores: Stores;
  /** Of every gateway. */
  gatewayPids: number[];
  /** Since the processes began, and of the one session in which the relay reads and marks. */
  cpu(): Promise<Taken>;
  stop(): Promise<void>;
}

export interface Taken {
  at: number;
  parts: Cpu;
  relaySession: number;
}

export async function startScaleStack(options: ScaleStackOptions): Promise<ScaleStack> {
  const { dataDir, gateways, keysFile, hookDir, sockets } = options;
  const env = {
    ...targetEnvironment(options.env),
    ACCESS_TOKEN_KEYS_FILE: keysFile,
    NODE_OPTIONS: `--import=${new URL('../feed/memory-hook.ts', import.meta.url).href}`,
    PROFILE_DIR: hookDir,
    // All sockets come from one address.
    REALTIME_MAX_SOCKETS_PER_IP: String(2 * sockets),
    REALTIME_MAX_SOCKETS_PER_USER: String(2 * sockets),
  };
  const stack = await startStack({ dataDir, env, gateways, log: () => undefined, restart: false });
  try {
    const { postgres, kafka, redis } = stack.servers;
    const tasksDatabase = databaseUrl(postgres, serviceDatabase('tasks'));
    const stores = await openStores({ tasksDatabase, redis, kafkaDir: join(dataDir, 'kafka') });
    return {
      urls: stack.urls,
      tasksDatabase,
      kafka,
      stores,
      gatewayPids: pidsOf(stack, 'gateway'),
      cpu: () => cpuOfStack(stack, stores),
      async stop() {
        await stores.close();
        await stack.stop();
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function cpuOfStack(stack: Stack, stores: Stores): Promise<Taken> {
  const session = await stores.relaySession();
  const parts = noCpu();
  const owners = PARTS.flatMap((part) => pidsOf(stack, part).map((pid) => ({ part, pid })));
  const [relaySession = 0, ...times] = cpuMsOfTrees([session, ...owners.map(({ pid }) => pid)]);
  owners.forEach(({ part }, index) => (parts[part] += times[index] ?? 0));
  return { at: performance.now(), parts, relaySession };
}

function pidsOf(stack: Stack, part: Part): number[] {
  return [...stack.processes]
    .filter(([name]) => name === part || (part === 'gateway' && name.startsWith('gateway-')))
    .map(([, process]) => process.current.pid);
}
