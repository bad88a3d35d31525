import { findFreePorts, serviceReady, startPostgres, untilReady } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startNode } from '../processes/start-node.ts';
import { changesPublished, tasksDatabaseOn } from './tasks-database.ts';
import type { Target, TargetOptions } from './target.ts';

/** How `npm start` runs the platform. */
export const EMBEDDED = {
  file: new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url),
  execArgv: ['--max-semi-space-size=32'],
};

/** The embedded platform as `npm start` runs it. Its PostgreSQL is started from here, so that the two can be told apart. */
export async function startEmbeddedTarget({ dataDir, env, log }: TargetOptions): Promise<Target> {
  await using closers = new Closers();
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log });
  closers.add(() => postgres.stop());
  const platform = await startPlatform({ ...env, DATA_DIR: join(dataDir, 'taskmesh'), POSTGRES_URL: postgres.url });
  closers.add(platform.stop);
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
export async function startPlatform(
  settings: TargetOptions['env'] & { DATA_DIR: string; POSTGRES_URL: string },
): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const env = { ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const platform = await startNode({ ...EMBEDDED, env, logFile: join(settings.DATA_DIR, '..', 'embedded.log') });
  const ready = () => serviceReady(`http://127.0.0.1:${adminPort}`);
  await untilReady(platform, { name: 'embedded', ready });
  return { url: `http://127.0.0.1:${port}`, pid: platform.pid, stop: () => platform.stop() };
}
