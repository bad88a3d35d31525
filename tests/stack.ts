import { say, startStack, type Stack } from '@taskmesh/local';
import { nodeEnvironment } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Servers that are not the stack's own, because the faults concern them. */
export interface ProvidedServers {
  env: Record<string, string>;
  stop(): Promise<unknown>;
}

export interface RunningStack {
  /** From the first test on. */
  readonly stack: Stack;
  /** The stack's. */
  dataDir: string;
}

/**
 * A stack with two gateways for the tests of this block, in a folder that goes with it. TASKMESH_KEEP_LOGS keeps the folder,
 * and says where it is.
 */
export function useStack(
  name: string,
  startServers: (folder: string) => Promise<ProvidedServers> = () => Promise.resolve({ env: {}, stop: async () => {} }),
  /** Makes the folder of the services' folders, if they are not this repository's. */
  servicesDirIn: (folder: string) => string | undefined = () => undefined,
): RunningStack {
  const folder = mkdtempSync(join(tmpdir(), `taskmesh-${name}-`));
  const dataDir = join(folder, 'stack');
  let servers: ProvidedServers | undefined;
  let stack: Stack | undefined;

  beforeAll(async () => {
    servers = await startServers(folder);
    const env = { ...nodeEnvironment(), LOG_LEVEL: 'info', ...servers.env };
    stack = await startStack({ dataDir, servicesDir: servicesDirIn(folder), gateways: 2, env, log: () => {} });
  }, 240_000);
  afterAll(async () => {
    await stack?.stop();
    await servers?.stop();
    if (!process.env.TASKMESH_KEEP_LOGS) rmSync(folder, { recursive: true });
    else say(`the logs: ${folder}`);
  }, 180_000);

  return {
    dataDir,
    get stack() {
      if (!stack) throw new Error('The stack did not start.');
      return stack;
    },
  };
}
