import type { Database } from '@taskmesh/database';
import { Gauge, type Registry } from 'prom-client';
import { BACKLOG } from './owners.statements.ts';

interface Backlog extends Record<string, unknown> {
  pending: number;
  oldest_age_s: number;
}

/** How far deletions are behind, read at each scrape. Absent when it cannot be read. */
export function watchClosedOwners(
  registry: Registry,
  { database, readAgeMs }: { database: Pick<Database, 'run'>; readAgeMs: () => number },
): void {
  const look = async (): Promise<Backlog | undefined> =>
    (await database.run<Backlog>('read', BACKLOG, []).catch(() => []))[0];
  const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const backlog = await look();
        if (backlog) this.set(valueOf(backlog));
        else this.remove();
      },
    });
  new Gauge({
    name: 'taskmesh_account_log_read_age_seconds',
    help: 'Time since the account log was last read to its end.',
    registers: [registry],
    collect() {
      this.set(readAgeMs() / 1_000);
    },
  });
  gauge(
    'taskmesh_account_deletions_pending',
    'Deleted accounts of which tasks or changes are left.',
    ({ pending }) => pending,
  );
  gauge(
    'taskmesh_account_deletions_oldest_pending_age_seconds',
    'Time since the deletion of the oldest account of which something is left.',
    ({ oldest_age_s }) => oldest_age_s,
  );
}
