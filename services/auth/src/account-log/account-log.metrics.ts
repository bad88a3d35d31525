import type { Database } from '@taskmesh/database';
import { Gauge, type Registry } from 'prom-client';
import { BACKLOG } from './account-log.statements.ts';

interface Backlog extends Record<string, unknown> {
  pending: number;
  oldest_age_s: number;
}

/** How far the event log is behind the account log, read at each scrape. Absent when it cannot be read. */
export function watchAccountLog(registry: Registry, database: Pick<Database, 'run'>): void {
  const registers = [registry];
  const look = async (): Promise<Backlog | undefined> =>
    (await database.run<Backlog>('read', BACKLOG, []).catch(() => []))[0];
  const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const backlog = await look();
        if (backlog) this.set(valueOf(backlog));
        else this.remove();
      },
    });
  gauge(
    'taskmesh_account_log_pending_messages',
    'Deletions of accounts that are committed and not published.',
    ({ pending }) => pending,
  );
  gauge(
    'taskmesh_account_log_oldest_pending_age_seconds',
    'Age of the oldest deletion of an account that is not published.',
    ({ oldest_age_s }) => oldest_age_s,
  );
}
