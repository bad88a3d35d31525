import { badUserInput } from '@taskmesh/errors';

/** What may be said of a new epoch. */
export const EPOCH_PARAMETERS = ['atLeast'] as const;

/** As a query string goes on; empty without one. */
export const queryOfEpoch = (atLeast: number | undefined): string =>
  atLeast === undefined ? '' : `&atLeast=${atLeast}`;

/** What the epoch must be at the least; its owner knows which ones can be. @throws AppError BAD_USER_INPUT */
export function leastEpochOf(query: unknown): number | undefined {
  const { atLeast } = (query ?? {}) as Record<string, unknown>;
  if (atLeast === undefined) return undefined;
  if (typeof atLeast === 'string' && /^\d{1,10}$/.test(atLeast)) return Number(atLeast);
  throw badUserInput([{ path: 'atLeast', message: 'must be a whole number' }], 'atLeast must be a whole number.');
}
