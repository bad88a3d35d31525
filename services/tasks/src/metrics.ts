import { createMeters } from '@taskmesh/service';
import { watchBacklog } from '@taskmesh/store';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { OwnerRepository } from './owners/owner.repository.ts';
import type { DeadLetterRepository } from './relay/dead-letter.repository.ts';
import type { RelayRepository } from './relay/relay.repository.ts';

/** Measures how far deletions lag behind. */
export function watchClosedOwners(
  registry: Registry,
  { repository, readAgeMs }: { repository: Pick<OwnerRepository, 'backlog'>; readAgeMs: () => number },
): void {
  createMeters(registry).gauge(
    'taskmesh_account_log_read_age_seconds',
    'Time since the account log was last read to its end.',
    () => readAgeMs() / 1_000,
  );
  watchBacklog(registry, {
    read: repository.backlog,
    pending: {
      name: 'taskmesh_account_deletions_pending',
      help: 'Deleted accounts of which tasks or changes are left.',
    },
    oldestPendingAge: {
      name: 'taskmesh_account_deletions_oldest_pending_age_seconds',
      help: 'Time since the deletion of the oldest account of which something is left.',
    },
  });
}

export type RelayMetrics = ReturnType<typeof createRelayMetrics>;

/** Measures how far the event log lags behind the store. */
export function createRelayMetrics(
  registry: Registry,
  repositories: { relay: Pick<RelayRepository, 'backlog'>; deadLetters: Pick<DeadLetterRepository, 'count'> },
) {
  const { relay, deadLetters } = repositories;
  const registers = [registry];
  const { counter } = createMeters(registry);
  watchBacklog(registry, {
    read: relay.backlog,
    pending: { name: 'taskmesh_outbox_pending_messages', help: 'Changes that are committed and not published.' },
    oldestPendingAge: {
      name: 'taskmesh_outbox_oldest_pending_age_seconds',
      help: 'Age of the oldest change that is not published.',
    },
  });
  new Gauge({
    name: 'taskmesh_dead_letters',
    help: 'Changes that the event log refused, and records that gateways could not read, for an operator to look at.',
    labelNames: ['source'],
    registers,
    async collect() {
      const counts = await deadLetters.count().catch(() => ({}));
      this.reset();
      for (const [source, count] of Object.entries(counts)) this.set({ source }, count);
    },
  });
  const lag = new Histogram({
    name: 'taskmesh_outbox_publish_lag_seconds',
    help: 'From the commit of a change until the event log accepted it.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const published = counter('taskmesh_outbox_published_total', 'Changes that the event log accepted.');
  const failures = counter(
    'taskmesh_outbox_publish_failures_total',
    'Attempts to publish that the event log did not accept.',
  );
  const deadLettered = counter('taskmesh_outbox_dead_letters_total', 'Changes that the event log refused permanently.');
  return {
    /** `lagsMs`: for each change, the time from its commit until the log had accepted it. */
    published(lagsMs: number[]): void {
      published.inc(lagsMs.length);
      for (const lagMs of lagsMs) lag.observe(Math.max(lagMs, 0) / 1_000);
    },
    failed: () => failures.inc(),
    deadLettered: () => deadLettered.inc(),
  };
}
