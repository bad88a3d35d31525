import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { stopAll, systemClock, type Clock, type Log, type Tracing } from '@taskmesh/service';
import { createRecordingLog } from '@taskmesh/service/testing';
import { atEnd, eventually, makeTempDir } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { readGatewayConfig } from '../../src/config.ts';
import type { Connections } from '../../src/connections/connections.ts';
import { connectInProcess, type InProcessServices } from '../../src/connections/in-process.ts';
import { createGateway } from '../../src/create-gateway.ts';
import { createFakeSubgraph, type OwnService } from './fake-subgraph.ts';
import { createFakeAuth } from './auth.ts';
import { createFakeBackupWork, createFakeOperators } from './operators.ts';
import { createFakeTasks } from './tasks.ts';
import { connectServers } from './servers.ts';

export const USER = 'a0000000-0000-4000-8000-000000000001';

/** The services in memory. */
export async function createFakes(log: Log) {
  const [auth, tasks] = [await createFakeAuth(log), createFakeTasks(log)];
  const [backupWork, operators] = [createFakeBackupWork(), createFakeOperators()];
  const services: InProcessServices = {
    auth: { ...auth, operators: operators.auth },
    tasks: { ...tasks, operators: operators.tasks, deadLetters: operators.deadLetters },
    backup: {
      subgraph: createFakeSubgraph('backup', backupWork.resolvers, log),
      ...{ work: backupWork.work, operators: operators.backup },
    },
  };
  return { auth, tasks, backupWork, operators, services };
}

export type Fakes = Awaited<ReturnType<typeof createFakes>>;

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

export interface GraphQLOptions {
  token?: string;
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export interface GraphQLResponse {
  status: number;
  headers: Headers;
  body: {
    data?: Record<string, unknown> | null;
    errors?: { message: string; path?: unknown[]; extensions: Record<string, unknown> }[];
  };
}

export interface TestGatewayOptions {
  env?: Record<string, string>;
  /** File contents, by the variables that name the files. */
  files?: Record<string, string>;
  /** The token of this machine, in its file. */
  machineToken?: string;
  /** @default 128 MiB */
  maxKeptBytes?: number;
  mode?: 'in-process' | 'http';
  keyValue?: KeyValue;
  /** Runs a second gateway with another one's services. */
  beside?: Fakes;
  waitUntilReady?: boolean;
  clock?: Clock;
  random?: () => number;
  tracing?: Tracing;
  /** Replaces the gateway's connections. */
  wrap?: (connections: Connections) => Connections;
}

/** Starts a gateway, which stops after the tests of the file, unless the test stops it. */
export async function startTestGateway(options: TestGatewayOptions = {}) {
  const { env = {}, mode = 'in-process', waitUntilReady = true, clock = systemClock, random, tracing } = options;
  const { log, lines: logged } = createRecordingLog('debug');
  const fakes = options.beside ?? (await createFakes(log));
  const { auth, tasks, services } = fakes;
  const folder = makeTempDir();
  const files: Record<string, string> = {};
  for (const [variable, text] of Object.entries(options.files ?? {}))
    await writeFile((files[variable] = join(folder, variable)), text);
  const machineTokenFile = join(folder, 'keys', 'machine-token');
  if (options.machineToken) {
    await mkdir(join(folder, 'keys'));
    await writeFile(machineTokenFile, options.machineToken, { mode: 0o600 });
  }
  const config = readGatewayConfig({ PORT: '0', NODE_ENV: 'test', DATA_DIR: folder, ...files, ...env });
  if (options.maxKeptBytes) config.maxKeptBytes = options.maxKeptBytes;
  const { connections, servers } =
    mode === 'http'
      ? await connectServers(services, log, clock)
      : { connections: connectInProcess(services), servers: undefined };
  const eventLog = createMemoryEventLog();
  /** The metrics that the admin port would show. */
  const metrics = new Registry();
  const gateway = await createGateway(config, {
    clock,
    log,
    eventLog,
    metrics,
    ...(random && { random }),
    ...(tracing && { tracing }),
    keyValue: options.keyValue ?? createMemoryKeyValue(),
    connections: options.wrap?.(connections) ?? connections,
  });
  await gateway.start();
  if (waitUntilReady) await eventually(() => gateway.ready().ok);
  const origin = gateway.address();
  const stopAllParts = async () => {
    await gateway.stop();
    await connections.close();
    await stopAll(Object.values(servers ?? {}));
  };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopAllParts());
  atEnd(stop);
  /** How many subscriptions run, over all protocols. */
  const subscriptions = async () => {
    const series = (await metrics.metrics()).matchAll(/^taskmesh_realtime_subscriptions\{.*\} (\d+)$/gm);
    return [...series].reduce((sum, [, value]) => sum + Number(value), 0);
  };

  return {
    ...fakes,
    gateway,
    origin,
    machineTokenFile,
    metrics,
    subscriptions,
    stop,
    /** An access token of `USER`. */
    token: await auth.token(USER),
    /** The parsed log records. */
    logged,
    /** The value of one series; 0 if it is absent. */
    async figure(series: string) {
      const line = (await metrics.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
      return Number(line?.slice(series.length + 1) ?? 0);
    },
    /** Waits until so many subscriptions run. */
    untilSubscriptions: (count: number) => eventually(async () => expect(await subscriptions()).toBe(count)),
    /** Commits a change of a task, and publishes it. */
    commit(...change: Parameters<typeof tasks.changes.commit>) {
      const committed = tasks.changes.commit(...change);
      void eventLog.publish(TASK_CHANGES_TOPIC, [{ key: committed.ownerId, value: JSON.stringify(committed) }]);
      return committed;
    },
    /** Over HTTP only: stops a service. */
    stopService: async (name: OwnService) => servers?.[name].stop(),
    graphql: (query: string, { token, variables, headers }: GraphQLOptions = {}) =>
      postGraphQL(origin, { query, variables }, { ...(token && { authorization: `Bearer ${token}` }), ...headers }),
  };
}

/** A gateway for the tests of a `describe`, which starts before them. */
export function useGateway(options: TestGatewayOptions | (() => Promise<TestGatewayOptions>) = {}): TestGateway {
  const gateway = {} as TestGateway; // complete when the tests begin
  beforeAll(async () => {
    const given = typeof options === 'function' ? await options() : options;
    Object.assign(gateway, await startTestGateway(given));
  });
  return gateway;
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Wraps connections: every task's title has this many MiB. */
export const withLargeTask =
  (mib: number, onRequest: () => unknown = () => undefined) =>
  (connections: Connections): Connections => ({
    ...connections,
    async request(...args) {
      if (!args[2].query.includes('task(')) return connections.request(...args);
      await onRequest();
      return { data: { task: { title: 'x'.repeat(mib * 1024 * 1024) } } };
    },
  });

/** Strings are sent unchanged, everything else as JSON. */
export const fetchGraphQL = (
  origin: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
): Promise<Response> =>
  fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });

export async function postGraphQL(...request: Parameters<typeof fetchGraphQL>): Promise<GraphQLResponse> {
  const response = await fetchGraphQL(...request);
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as GraphQLResponse['body'] };
}
