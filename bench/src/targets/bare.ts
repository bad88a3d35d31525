import { startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startNode } from './node-process.ts';
import { postgresVersion } from './postgres-version.ts';
import type { Target, TargetOptions } from './target.ts';

/** The bare server and a PostgreSQL for it. */
export async function startBare(options: TargetOptions): Promise<Target> {
  const closers = new Closers();
  const postgres = await startPostgres({ dataDir: join(options.dataDir, 'postgres'), log: options.log });
  closers.add(() => postgres.stop());
  try {
    const server = await startBareOn({ ...options, postgresUrl: postgres.url });
    closers.add(() => server.stop());
    const parts = [...server.parts, { name: 'postgres', role: 'postgres', pid: postgres.pid } as const];
    return { ...server, parts, stop: () => closers.closeAll() };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** The bare server on a database that is there, and empty. */
export async function startBareOn(options: Omit<TargetOptions, 'log'> & { postgresUrl: string }): Promise<Target> {
  const { dataDir, env, postgresUrl } = options;
  const server = await startNode({
    name: 'bare',
    file: new URL('../bare/main.ts', import.meta.url),
    env: { ...env, POSTGRES_URL: postgresUrl },
    logFile: join(dataDir, 'bare.log'),
  });
  try {
    const { url } = (await server.nextMessage()) as { url: string }; // its first words
    return {
      name: 'bare',
      url,
      parts: [{ name: 'server', role: 'server', pid: server.pid }],
      postgresVersion: await postgresVersion(postgresUrl),
      settle: async () => undefined, // nothing happens behind its answers
      stop: server.stop,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
