import type { Log } from '@taskmesh/service';
import type { Client } from 'pg';
import { dumpStore, type StoreDump, type StoreDumpOptions } from './dump-store.ts';
import { countLeftOut } from './unknown-objects.ts';
import { dumpWithProgram, majorOf, type PgDump } from './pg-dump.ts';

export type Dumper = (options: StoreDumpOptions & { url: string }) => Promise<StoreDump>;

/**
 * Uses `pgDump` when it is not older than the store's server, and otherwise our own code. Both write what any psql and
 * our loader can load. Absent: always our own code.
 */
export function createDumper({ pgDump, log }: { pgDump: PgDump | undefined; log: Log }): Dumper {
  const isFit = async (program: PgDump, client: Client): Promise<boolean> => {
    const major = await majorOf(program);
    if (major === undefined) return false;
    const server = await serverMajorOf(client);
    if (major < server) log.debug({ major, server }, 'pg_dump is older than the server: dumping without it');
    return major >= server;
  };

  return async (options) => {
    if (pgDump && (await isFit(pgDump, options.client))) return dumpWithProgram({ ...options, pgDump });
    const leftOut = await countLeftOut(options.client);
    if (Object.keys(leftOut).length > 0) log.info({ leftOut }, 'the store has what a dump goes without');
    return dumpStore(options);
  };
}

async function serverMajorOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  return Math.floor(Number(rows[0]?.server_version_num) / 10_000);
}
