import { createTimedQuery } from '@taskmesh/service';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from './database.ts';
import type { Statement } from './prepared-query.ts';

/** The size and age of work that waits to be processed. */
export type Backlog = Awaited<ReturnType<typeof readBacklog>>;

/** The statement returns `pending` and `oldest_age_s`. Rejects when the database is unavailable or too slow. */
export async function readBacklog(database: Pick<Database, 'run'>, statement: Statement) {
  const [row] = await database.run<{ pending: number; oldest_age_s: number }>('read', statement, []);
  return { pending: row?.pending ?? 0, oldestPendingAgeSeconds: row?.oldest_age_s ?? 0 };
}

interface Description {
  name: string;
  help: string;
}

export interface BacklogGauges {
  read: () => Promise<Backlog>;
  pending: Description;
  oldestPendingAge: Description;
}

/** Longer than a statement may take. */
const MAX_READ_MS = 10_000;

/** Adds gauges of a backlog, which is read once per scrape. */
export function watchBacklog(registry: Registry, { read, pending, oldestPendingAge }: BacklogGauges): void {
  const readOnce = createTimedQuery(MAX_READ_MS, read);
  const gauge = (description: Description, valueOf: (backlog: Backlog) => number) =>
    new Gauge({
      ...description,
      registers: [registry],
      async collect() {
        const backlog = await readOnce();
        // Removed if the backlog cannot be read: alerts would take an old value for the current one.
        if (backlog) this.set(valueOf(backlog));
        else this.remove();
      },
    });
  gauge(pending, (backlog) => backlog.pending);
  gauge(oldestPendingAge, (backlog) => backlog.oldestPendingAgeSeconds);
}
