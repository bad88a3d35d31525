import type { RestoreEnd } from '@taskmesh/internal-api';
import type { Answer } from '../endpoint.ts';

/** Rules 1 to 10 of the interface document, as statuses. */
const STATUS = {
  RESTORED: 200,
  RESTORED_CLEAN_UP_PENDING: 200,
  PROCESSED: 200,
  FILE_MISSING: 400,
  FILE_OUTSIDE: 403,
  FILE_NOT_FOUND: 404,
  EXTRACTION_FAILED: 500,
  FAILED: 500,
  UNKNOWN: 500,
  NOTHING_TO_UNDO: 404,
  OTHER_RESTORE: 409,
  BUSY: 500, // rule 10; it says that another one runs
};

/** The documented answer has no lists: they are added only for requests that use undocumented options. */
export function endOf(
  { success, message, error, outcome, skipped = [], dropped, safetyBackup, keptUntil }: RestoreEnd,
  { hasLists = false } = {},
): Answer {
  const lists = {
    ...(skipped.length > 0 && { skipped }),
    ...(dropped.length > 0 && { dropped }),
    ...(safetyBackup && { safetyBackup }),
  };
  return {
    status: STATUS[outcome],
    body: { success, message, ...(!success && { error: error ?? message }), ...(hasLists && lists) },
    inLines: {
      databaseRestored: outcome.startsWith('RESTORED'),
      ...lists,
      ...(keptUntil !== undefined && { keptUntil }),
    },
  };
}
