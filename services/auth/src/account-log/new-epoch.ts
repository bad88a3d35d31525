import { epochAt } from '@taskmesh/change-log';
import type { AccountLogRepository } from './account-log.repository.ts';

/** For a database that was reset by other means: readers with a position in the former log start from the beginning. */
export function beginNewAccountEpoch(
  repository: Pick<AccountLogRepository, 'beginEpoch'>,
  nowMs: number,
): Promise<number> {
  return repository.beginEpoch(epochAt(nowMs));
}
