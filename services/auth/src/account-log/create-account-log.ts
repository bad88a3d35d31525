import { epochAt, explainFrozen, watchBacklog } from '@taskmesh/store';
import type { AccountsInternal } from '@taskmesh/internal-api';
import { parseInput } from '@taskmesh/contracts';
import { z } from 'zod';
import type { EventLog } from '@taskmesh/event-log';
import type { CommonParts } from '../common-parts.ts';
import { createAccountLogRepository } from './account-log.repository.ts';
import { createAccountRelay } from './account-relay.ts';

const MAX_PAGE_SIZE = 1_000;

const position = z.object({ epoch: z.int().min(0), sequence: z.int().min(0) });

/** The log of deleted accounts. Without an event log it has no relay, and other services must poll it. */
export function createAccountLog({ database, clock, log, registry }: CommonParts, eventLog: EventLog | undefined) {
  const repository = createAccountLogRepository(database);
  const relay = eventLog && createAccountRelay({ repository, eventLog, log });
  if (relay)
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
  const service: AccountsInternal = {
    accountChanges: async (after) => repository.entriesAfter(parseInput(position, after), MAX_PAGE_SIZE),
  };
  return {
    relay,
    service,
    /** Call this after the database was reset by other means, so that readers of the former log start from the beginning. */
    newEpoch: () => explainFrozen('auth', () => repository.beginEpoch(epochAt(clock.now()))),
  };
}
