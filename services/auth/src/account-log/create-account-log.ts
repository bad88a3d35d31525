import { epochAt, explainFrozen } from '@taskmesh/store';
import type { AccountsInternal } from '@taskmesh/internal-api';
import { parseInput } from '@taskmesh/contracts';
import { z } from 'zod';
import type { CommonParts } from '../common-parts.ts';
import { createAccountLogRepository } from './account-log.repository.ts';

const MAX_PAGE_SIZE = 1_000;

const position = z.object({ epoch: z.int().min(0), sequence: z.int().min(0) });

/** The log of deleted accounts, which other services poll. */
export function createAccountLog({ database, clock }: CommonParts) {
  const repository = createAccountLogRepository(database);
  const service: AccountsInternal = {
    accountChanges: async (after) => repository.entriesAfter(parseInput(position, after), MAX_PAGE_SIZE),
  };
  return {
    service,
    /** Call this after the database was reset by other means, so that readers of the old log start from the beginning. */
    newEpoch: () => explainFrozen('auth', () => repository.beginEpoch(epochAt(clock.now()))),
  };
}
