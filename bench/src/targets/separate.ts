import { startStack } from '@taskmesh/local';
import { join } from 'node:path';
import { postgresVersion } from './postgres-version.ts';
import type { Part, Role, Target, TargetOptions } from './target.ts';
import { changesPublished } from './unpublished.ts';

const ROLES: Record<string, Role> = { postgres: 'postgres', redis: 'redis', kafka: 'kafka' };

/** Every service a process of its own, with PostgreSQL, Redis and Kafka of this stack alone. */
export async function startSeparate({ dataDir, env, log }: TargetOptions): Promise<Target> {
  // A process that dies must spoil the run, not be replaced by one with another id.
  const stack = await startStack({ dataDir: join(dataDir, 'stack'), env, log, restart: false });
  const parts = [...stack.processes].map(([name, process]): Part => ({
    name,
    role: ROLES[name] ?? 'server',
    pid: process.current.pid,
  }));
  return {
    name: 'separate',
    url: stack.urls[0] ?? '',
    parts,
    postgresVersion: await postgresVersion(stack.servers.postgres),
    servers: stack.servers,
    settle: () => changesPublished(stack.servers.postgres),
    stop: () => stack.stop(),
  };
}
