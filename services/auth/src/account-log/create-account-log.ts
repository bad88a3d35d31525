import { epochAt, unlessFrozen, watchBacklog } from '@taskmesh/store';
import type { Registry } from 'prom-client';
import type { AccountsInternal } from '@taskmesh/internal-api';
import { parseInput } from '@taskmesh/contracts';
import { z } from 'zod';
import type { EventLog } from '@taskmesh/event-log';
import type { CommonParts } from '../common-parts.ts';
import { createAccountLogRepository, type AccountLogRepository } from './account-log.repository.ts';
import { createAccountRelay } from './account-relay.ts';

/** How far the event log is behind the account log. */
function watchAccountLog(registry: Registry, repository: Pick<AccountLogRepository, 'backlog'>): void {
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

const MOST = 1_000;

const position = z.object({ epoch: z.int().min(0), sequence: z.int().min(0) });

/** The log of deleted accounts; without an event log it has no relay, and is only asked for. */
export function createAccountLog({ database, clock, log, registry }: CommonParts, eventLog: EventLog | undefined) {
  const repository = createAccountLogRepository(database);
  const relay = eventLog && createAccountRelay({ repository, eventLog, log });
  if (relay) watchAccountLog(registry, repository);
  const service: AccountsInternal = {
    accountChanges: async (after) => repository.entriesAfter(parseInput(position, after), MOST),
  };
  return {
    relay,
    service,
    /** For a database that was reset by other means: readers with a position in the former log start from the beginning. */
    newEpoch: () => unlessFrozen('auth', () => repository.beginEpoch(epochAt(clock.now()))),
  };
}
