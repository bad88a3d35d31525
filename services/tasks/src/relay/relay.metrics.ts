import type { Database } from '@taskmesh/database';
import { Counter, Gauge, type Registry } from 'prom-client';
import { BACKLOG } from './relay.statements.ts';

export interface RelayMetrics {
  published(count: number): void;
  failed(): void;
  buried(): void;
}

/** How far the event log is behind the store. The backlog is counted when somebody looks. */
export function createRelayMetrics(registry: Registry, database: Pick<Database, 'run'>): RelayMetrics {
  const registers = [registry];
  const age = new Gauge({
    name: 'outbox_oldest_pending_age_seconds',
    help: 'Age of the oldest change that is not published.',
    registers,
  });
  new Gauge({
    name: 'outbox_pending_messages',
    help: 'Changes that are committed and not published.',
    registers,
    async collect() {
      const [row] = await database
        .run<{ pending: number; oldest_age_s: number }>('read', BACKLOG, [])
        .catch(() => []); // the database is away: what was known stays
      if (!row) return;
      this.set(row.pending);
      age.set(row.oldest_age_s);
    },
  });
  const published = new Counter({ name: 'outbox_published_total', help: 'Changes that the event log took.', registers });
  const failures = new Counter({
    name: 'outbox_publish_failures_total',
    help: 'Attempts to publish that the event log did not take.',
    registers,
  });
  const buried = new Counter({
    name: 'outbox_dead_letters_total',
    help: 'Changes that the event log refused for good.',
    registers,
  });
  return {
    published: (count) => published.inc(count),
    failed: () => failures.inc(),
    buried: () => buried.inc(),
  };
}

export const NO_METRICS: RelayMetrics = { published: () => undefined, failed: () => undefined, buried: () => undefined };
