import { postgresVersion, startStack } from '@taskmesh/local';
import { join } from 'node:path';
import { changesPublished, tasksDatabaseOn } from './tasks-database.ts';
import type { Part, Role, Target, TargetOptions } from './target.ts';

const ROLES: Record<string, Role> = { postgres: 'postgres', redis: 'redis', kafka: 'kafka', 'gateway-1': 'server' };

/** Every service a process of its own, with PostgreSQL, Redis and Kafka of this stack alone. */
export async function startSeparate({ dataDir, env, log }: TargetOptions): Promise<Target> {
  // A process that dies must spoil the run, not be replaced by one with another id.
  const stack = await startStack({ dataDir: join(dataDir, 'stack'), env, log, restart: false });
  const { postgres, kafka } = stack.servers;
  const parts = [...stack.processes].map(([name, { pid }]): Part => ({ name, role: ROLES[name] ?? 'inner', pid }));
  return {
    name: 'separate',
    url: stack.urls[0] ?? '',
    parts,
    postgresVersion: await postgresVersion(postgres),
    sources: { tasksDatabase: tasksDatabaseOn(postgres), kafka },
    settle: () => changesPublished(postgres),
    stop: () => stack.stop(),
  };
}
