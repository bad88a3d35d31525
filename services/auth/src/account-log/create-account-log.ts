import { epochAt, unlessFrozen } from '@taskmesh/store';
import type { EventLog } from '@taskmesh/event-log';
import type { CommonParts } from '../common-parts.ts';
import { watchAccountLog } from './account-log.metrics.ts';
import { createAccountLogRepository } from './account-log.repository.ts';
import { createAccountLogService } from './account-log.service.ts';
import { createAccountRelay } from './account-relay.ts';

/** The log of deleted accounts; without an event log it has no relay, and is only asked for. */
export function createAccountLog({ database, clock, log, registry }: CommonParts, eventLog: EventLog | undefined) {
  const repository = createAccountLogRepository(database);
  const relay = eventLog && createAccountRelay({ repository, eventLog, log });
  if (relay) watchAccountLog(registry, repository);
  return {
    relay,
    service: createAccountLogService(repository),
    /** For a database that was reset by other means: readers with a position in the former log start from the beginning. */
    newEpoch: () => unlessFrozen('auth', () => repository.beginEpoch(epochAt(clock.now()))),
  };
}
