import { epochAt } from '@taskmesh/change-log';
import { unlessFrozen } from '@taskmesh/database';
import type { AccountLogRepository } from './account-log.repository.ts';

/** For a database that was reset by other means: readers with a position in the former log start from the beginning. */
export function beginNewAccountEpoch(
  repository: Pick<AccountLogRepository, 'beginEpoch'>,
  nowMs: number,
): Promise<number> {
  return unlessFrozen('auth', () => repository.beginEpoch(epochAt(nowMs)));
}
