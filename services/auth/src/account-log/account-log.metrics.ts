import { watchBacklog } from '@taskmesh/store';
import type { Registry } from 'prom-client';
import type { AccountLogRepository } from './account-log.repository.ts';

/** How far the event log is behind the account log. */
export function watchAccountLog(registry: Registry, repository: Pick<AccountLogRepository, 'backlog'>): void {
  watchBacklog(registry, {
    read: repository.backlog,
    pending: {
      name: 'taskmesh_account_log_pending_messages',
      help: 'Deletions of accounts that are committed and not published.',
    },
    oldestPendingAge: {
      name: 'taskmesh_account_log_oldest_pending_age_seconds',
      help: 'Age of the oldest deletion of an account that is not published.',
    },
  });
}
