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
  let looking: Promise<Backlog | undefined> | undefined;
  const look = () => {
    looking ??= backlogOf(database).finally(() => (looking = undefined));
    return looking;
  };
  new Gauge({
    name: 'outbox_pending_messages',
    help: 'Changes that are committed and not published.',
    registers,
    async collect() {
      const backlog = await look();
      if (backlog) this.set(backlog.pending);
    },
  });
  new Gauge({
    name: 'outbox_oldest_pending_age_seconds',
    help: 'Age of the oldest change that is not published.',
    registers,
    async collect() {
      const backlog = await look();
      if (backlog) this.set(backlog.oldest_age_s);
    },
  });
  const published = new Counter({
    name: 'outbox_published_total',
    help: 'Changes that the event log took.',
    registers,
  });
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

interface Backlog {
  pending: number;
  oldest_age_s: number;
}

/** Undefined while the database is away: then what was known stays. */
async function backlogOf(database: Pick<Database, 'run'>): Promise<Backlog | undefined> {
  const [row] = await database.run<Backlog & Record<string, unknown>>('read', BACKLOG, []).catch(() => []);
  return row;
}

export const NO_METRICS: RelayMetrics = {
  published: () => undefined,
  failed: () => undefined,
  buried: () => undefined,
};
