import {
  databaseUrl,
  postgresVersion,
  serviceDatabase,
  startPostgres,
  startStack,
  withPostgres,
} from '@taskmesh/local';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Sources } from '../feed/sources.ts';
import { CACHE, type Environment, type RunContext } from '../run/benchmark.ts';
import { combine, difference } from '../run/figures.ts';
import { cpuMsOf } from './cpu.ts';
import { transferOwnership, startProgram, startServer, stopPart } from './processes.ts';

export const TARGETS = ['bare', 'embedded', 'separate'] as const;
export type TargetName = (typeof TARGETS)[number];

/** The role of a process: it serves clients, is another process of ours, or a store. */
export type Role = 'server' | 'internal' | 'postgres' | 'redis' | 'kafka';

/** A running server to measure. */
export interface Target {
  name: TargetName;
  url: string;
  /** The processes whose time counts, with their children. */
  parts: readonly { role: Role; pid: number }[];
  postgres: string;
  sources: Sources;
  /** Resolves when the background work caused by requests is done. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export type TargetOptions = Pick<RunContext, 'dataDir' | 'env'>;
export type Start = (options: TargetOptions, others: readonly Target[]) => Promise<Target>;

const PUBLISH_TIMEOUT_MS = 60_000;
const log = () => undefined;

/** The embedded platform, as run by `npm start`. */
const ALL_IN_ONE = new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url);

const START: Record<TargetName, Start> = {
  async bare({ dataDir, env }) {
    await using closers = new AsyncDisposableStack();
    const postgres = closers.adopt(await startPostgres({ dataDir: join(dataDir, 'postgres'), log }), stopPart);
    const file = new URL('../bare/main.ts', import.meta.url);
    const bare = closers.adopt(
      await startBare({ dataDir, env: { ...env, POSTGRES_URL: postgres.url } }, file),
      stopPart,
    );
    const parts = [...bare.parts, { role: 'postgres', pid: postgres.pid } as const];
    const sources = { tasksDatabase: postgres.url };
    return { ...bare, parts, sources, postgres: postgres.version, stop: transferOwnership(closers) };
  },
  // PostgreSQL is started here, so that its CPU time can be separated from the platform's.
  async embedded({ dataDir, env }) {
    await using closers = new AsyncDisposableStack();
    const postgres = closers.adopt(await startPostgres({ dataDir: join(dataDir, 'postgres'), log }), stopPart);
    const locations = { DATA_DIR: join(dataDir, 'taskmesh'), POSTGRES_URL: postgres.url };
    const { url, pid } = closers.adopt(await startEmbedded({ ...env, ...locations }), stopPart);
    const parts = [{ role: 'server', pid } as const, { role: 'postgres', pid: postgres.pid } as const];
    return {
      ...{ name: 'embedded', url, parts, postgres: postgres.version },
      sources: { tasksDatabase: tasksDatabaseOn(postgres.url) },
      settle: () => changesPublished(postgres.url),
      stop: transferOwnership(closers),
    };
  },
  async separate({ dataDir, env }) {
    const stack = await startSeparate({ dataDir: join(dataDir, 'stack'), env });
    const { postgres, kafka } = stack.servers;
    const roles: Partial<Record<string, Role>> = {
      postgres: 'postgres',
      redis: 'redis',
      kafka: 'kafka',
      'gateway-1': 'server',
    };
    const parts = [...stack.processes].map(([name, { pid }]) => ({ role: roles[name] ?? 'internal', pid }));
    return {
      ...{ name: 'separate', url: stack.urls[0] ?? '', parts, postgres: await postgresVersion(postgres) },
      sources: { tasksDatabase: tasksDatabaseOn(postgres), kafka },
      settle: () => changesPublished(postgres),
      stop: () => stack.stop(),
    };
  },
};

/** Starts targets one after the other, in this order; all run until `stop`. */
export async function startTargets(
  names: readonly TargetName[],
  { dataDir, env, log: report, signal }: RunContext,
  overrides: Partial<Record<TargetName, Start>> = {},
): Promise<{ targets: Target[]; stop(): Promise<void> }> {
  await using closers = new AsyncDisposableStack();
  const targets: Target[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    report(`Starting ${name} …`);
    const start = { ...START, ...overrides }[name];
    targets.push(closers.adopt(await start({ env, dataDir: join(dataDir, name) }, targets), stopPart));
  }
  return { targets, stop: transferOwnership(closers) };
}

/** Starts a process that does no background work. */
export async function startBare({ env, dataDir }: TargetOptions, file: URL): Promise<Target> {
  const { url, pid, stop } = await startServer({ file, env, logFile: join(dataDir, 'bare.log') });
  const parts = [{ role: 'server', pid } as const];
  return { name: 'bare', url, postgres: '', sources: {}, parts, settle: async () => undefined, stop };
}

/** Starts the platform in one process. */
export const startEmbedded = (env: Environment & { DATA_DIR: string; POSTGRES_URL: string }) =>
  startProgram({
    ...{ name: 'embedded', file: ALL_IN_ONE, env },
    execArgv: ['--max-semi-space-size=32'],
    logFile: join(env.DATA_DIR, '..', 'embedded.log'),
  });

/** Starts the platform as processes, with its own stores. A process that dies spoils the run, so it is not restarted. */
export const startSeparate = (options: TargetOptions & { gateways?: number }) =>
  startStack({ ...options, log, restart: false });

/** Settings as in production, without the user's own. */
export function productionEnvironment({ PATH, HOME, JAVA_HOME }: Environment): Environment {
  return {
    ...{ PATH, HOME, JAVA_HOME },
    NODE_COMPILE_CACHE: join(CACHE, 'compile'),
    NODE_ENV: 'production',
    BACKUP_TOKEN: randomBytes(32).toString('hex'),
    RATE_LIMIT_FACTOR: '0', // all requests come from one address
    APOLLO_TELEMETRY_DISABLED: '1',
    LOG_LEVEL: 'warn',
  };
}

/** The process that serves clients. */
export const pidOf = ({ parts }: Target) => parts.find(({ role }) => role === 'server')?.pid ?? 0;

/** Measures the cost of work at a target, including the background work that it causes, per counted unit. */
export async function measureCost<Count extends string, Found extends Record<Count, number>>(
  { parts, settle }: Pick<Target, 'parts' | 'settle'>,
  counted: Count,
  work: () => Promise<Found>,
): Promise<Found & { cpu: Record<Role, number> }> {
  const read = () => {
    const cost: Record<Role, number> = { server: 0, internal: 0, postgres: 0, redis: 0, kafka: 0 };
    const times = cpuMsOf(parts.map(({ pid }) => pid));
    parts.forEach(({ role }, index) => (cost[role] += times[index] ?? 0));
    return cost;
  };
  await settle();
  const before = read();
  const found = await work();
  await settle();
  const cpu = combine([difference(read(), before)], ([ms = 0]) => ms / found[counted]);
  return { ...found, cpu };
}

export const tasksDatabaseOn = (postgresUrl: string) => databaseUrl(postgresUrl, serviceDatabase('tasks'));

/** Resolves when every change is published, because publishing is part of the cost of a write. */
async function changesPublished(postgresUrl: string): Promise<void> {
  await withPostgres(tasksDatabaseOn(postgresUrl), async (client) => {
    for (const deadline = Date.now() + PUBLISH_TIMEOUT_MS; !(await isPublished(client)); await sleep(50))
      if (Date.now() > deadline) throw new Error(`Changes are not published after ${PUBLISH_TIMEOUT_MS / 1_000} s.`);
  });
}

export async function isPublished(client: Client): Promise<boolean> {
  const { rows } = await client.query('select 1 from changes where published_at is null limit 1');
  return rows.length === 0;
}
