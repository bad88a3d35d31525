import type { AccountsInternal } from '@taskmesh/internal-api';
import { parseInput } from '@taskmesh/validation';
import { z } from 'zod';
import type { createAccountLogRepository } from './account-log.repository.ts';

const MOST = 1_000;

const position = z.object({ epoch: z.int().min(0), sequence: z.int().min(0) });

export function createAccountLogService(repository: ReturnType<typeof createAccountLogRepository>): AccountsInternal {
  return {
    accountChanges: async (after) => repository.entriesAfter(parseInput(position, after), MOST),
  };
}
