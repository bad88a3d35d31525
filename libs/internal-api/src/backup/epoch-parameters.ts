import { badUserInput } from '@taskmesh/errors';

export const EPOCH_PARAMETERS = ['atLeast'] as const;

/** To append to a query string. */
export const queryOfEpoch = (atLeast: number | undefined): string =>
  atLeast === undefined ? '' : `&atLeast=${atLeast}`;

/** The lowest acceptable epoch; the tasks service checks whether it is possible. @throws AppError BAD_USER_INPUT */
export function leastEpochOf(query: unknown): number | undefined {
  const { atLeast } = (query ?? {}) as Record<string, unknown>;
  if (atLeast === undefined) return undefined;
  if (typeof atLeast === 'string' && /^\d{1,10}$/.test(atLeast)) return Number(atLeast);
  throw badUserInput([{ path: 'atLeast', message: 'must be a whole number' }], 'atLeast must be a whole number.');
}
