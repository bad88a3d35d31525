import { postgresVersion, startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startServer } from '../processes/start-node.ts';
import type { Target, TargetOptions } from './target.ts';

/** The bare server and a PostgreSQL for it. */
export async function startBare(options: TargetOptions): Promise<Target> {
  await using closers = new Closers();
  const postgres = closers.use(await startPostgres({ dataDir: join(options.dataDir, 'postgres'), log: options.log }));
  const server = closers.use(await startBareOn({ ...options, postgresUrl: postgres.url }));
  const parts = [...server.parts, { name: 'postgres', role: 'postgres', pid: postgres.pid } as const];
  return { ...server, parts, stop: closers.handOver() };
}

/** The bare server on a database that is there, and empty. */
export async function startBareOn(options: Omit<TargetOptions, 'log'> & { postgresUrl: string }): Promise<Target> {
  const { postgresUrl } = options;
  const file = new URL('../bare/main.ts', import.meta.url);
  const server = await startBareProcess({ ...options, file, settings: { POSTGRES_URL: postgresUrl } });
  return { ...server, postgresVersion: await postgresVersion(postgresUrl) };
}

/** A process that says its address first. Nothing happens behind its answers. */
export async function startBareProcess(
  options: Omit<TargetOptions, 'log'> & { file: URL; settings: Record<string, string> },
): Promise<Target> {
  const { dataDir, env, file, settings } = options;
  const server = await startServer({ file, env: { ...env, ...settings }, logFile: join(dataDir, 'bare.log') });
  return {
    ...{ name: 'bare', url: server.url, postgresVersion: '', sources: {} },
    parts: [{ name: 'server', role: 'server', pid: server.pid }],
    settle: async () => undefined,
    stop: () => server.stop(),
  };
}
