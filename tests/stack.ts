import { databaseUrl, printLine, serviceDatabase, startStack, type Stack } from '@taskmesh/local';
import { nodeEnvironment, query } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Servers from outside the stack, for tests of faults in these servers. */
interface ProvidedServers {
  env: Record<string, string>;
  stop?(): Promise<unknown>;
}

/**
 * Runs a stack with two gateways for the tests of this block, in a folder that is removed afterwards. TASKMESH_KEEP_LOGS keeps
 * the folder and prints its path.
 */
export function useStack(
  name: string,
  startServers: (folder: string) => ProvidedServers | Promise<ProvidedServers> = () => ({ env: {} }),
  /** Provides the folder with the services to run; undefined for this repository's. */
  servicesDirIn: (folder: string) => string | undefined = () => undefined,
) {
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
    await servers?.stop?.();
    if (!process.env.TASKMESH_KEEP_LOGS) rmSync(folder, { recursive: true });
    else printLine(`the logs: ${folder}`);
  }, 180_000);

  return {
    /** The data directory of the stack. */
    dataDir,
    /** Available from the first test on. @throws before */
    get stack() {
      if (!stack) throw new Error('The stack did not start.');
      return stack;
    },
  };
}

/** Runs a statement in the store of a service. */
export const queryStore = <Row = Record<string, unknown>>(
  { servers }: Stack,
  service: Parameters<typeof serviceDatabase>[0],
  text: string,
  values: unknown[] = [],
) => query<Row>(databaseUrl(servers.postgres, serviceDatabase(service)), text, values);
