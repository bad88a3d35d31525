import { startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startProgram } from '../processes/start-node.ts';
import { changesPublished, tasksDatabaseOn } from './tasks-database.ts';
import type { Target, TargetOptions } from './target.ts';

/** How `npm start` runs the platform. */
const EMBEDDED = {
  name: 'embedded',
  file: new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url),
  execArgv: ['--max-semi-space-size=32'],
};

/** The embedded platform as `npm start` runs it. Its PostgreSQL is started from here, so that the two can be told apart. */
export async function startEmbeddedTarget({ dataDir, env, log }: TargetOptions): Promise<Target> {
  await using closers = new Closers();
  const postgres = closers.use(await startPostgres({ dataDir: join(dataDir, 'postgres'), log }));
  const platform = closers.use(
    await startPlatform({ ...env, DATA_DIR: join(dataDir, 'taskmesh'), POSTGRES_URL: postgres.url }),
  );
  return {
    name: 'embedded',
    url: platform.url,
    parts: [
      { name: 'platform', role: 'server', pid: platform.pid },
      { name: 'postgres', role: 'postgres', pid: postgres.pid },
    ],
    postgresVersion: postgres.version,
    sources: { tasksDatabase: tasksDatabaseOn(postgres.url) },
    settle: () => changesPublished(postgres.url),
    stop: closers.handOver(),
  };
}

/** The platform in one process, ready. */
export function startPlatform(env: TargetOptions['env'] & { DATA_DIR: string; POSTGRES_URL: string }) {
  return startProgram({ ...EMBEDDED, env, logFile: join(env.DATA_DIR, '..', 'embedded.log') });
}
