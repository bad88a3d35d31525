import { watchBacklog } from '@taskmesh/store';
import { Gauge, type Registry } from 'prom-client';
import type { OwnerRepository } from './owner.repository.ts';

/** How far deletions are behind. */
export function watchClosedOwners(
  registry: Registry,
  { repository, readAgeMs }: { repository: Pick<OwnerRepository, 'backlog'>; readAgeMs: () => number },
): void {
  new Gauge({
    name: 'taskmesh_account_log_read_age_seconds',
    help: 'Time since the account log was last read to its end.',
    registers: [registry],
    collect() {
      this.set(readAgeMs() / 1_000);
    },
  });
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
