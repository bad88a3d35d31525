import { badUserInput } from '@taskmesh/contracts';

export const UNDO_PARAMETERS = ['restoredAt'] as const;

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** To append to a query string. */
export const queryOfUndo = (restoredAt: string | undefined): string =>
  restoredAt === undefined ? '' : `&restoredAt=${encodeURIComponent(restoredAt)}`;

/** The time of the restore that the operator saw and wants to undo. @throws AppError BAD_USER_INPUT */
export function seenRestoreOf(query: unknown): string | undefined {
  const { restoredAt } = (query ?? {}) as Record<string, unknown>;
  return restoredAt === undefined ? undefined : asSeenRestore(restoredAt);
}

/** @throws AppError BAD_USER_INPUT */
export function asSeenRestore(value: unknown): string {
  if (typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const message = 'must be a moment, as the restore that can be undone is shown with';
  throw badUserInput([{ path: 'restoredAt', message }], `restoredAt ${message}.`);
}
