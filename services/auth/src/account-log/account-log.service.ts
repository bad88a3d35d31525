import type { AccountsInternal } from '@taskmesh/internal-api';
import { parseInput } from '@taskmesh/contracts';
import { z } from 'zod';
import type { AccountLogRepository } from './account-log.repository.ts';

const MOST = 1_000;

const position = z.object({ epoch: z.int().min(0), sequence: z.int().min(0) });

export function createAccountLogService(repository: Pick<AccountLogRepository, 'entriesAfter'>): AccountsInternal {
  return {
    accountChanges: async (after) => repository.entriesAfter(parseInput(position, after), MOST),
  };
}
