import { startPostgres, type PostgresServer } from '@taskmesh/local';
import { join } from 'node:path';
import type { ClientTools } from './client-tools.ts';

/** The product's own PostgreSQL; the one of the client tools when those are older: pg_dump refuses a newer server. */
export async function startServerFor(
  tools: ClientTools | undefined,
  { dataDir, log }: { dataDir: string; log: (line: string) => void },
): Promise<PostgresServer & { origin: string }> {
  const own = await startPostgres({ dataDir: join(dataDir, 'postgres'), log });
  if (!tools?.serverBin || Number(tools.major) >= Number.parseInt(own.version)) return { ...own, origin: 'from npm' };
  await own.stop();
  const { serverBin, major } = tools;
  const binaries = { initdb: join(serverBin, 'initdb'), postgres: join(serverBin, 'postgres'), major };
  const older = await startPostgres({ dataDir: join(dataDir, 'postgres-of-client'), log, binaries });
  return { ...older, origin: 'of the client tools' };
}
