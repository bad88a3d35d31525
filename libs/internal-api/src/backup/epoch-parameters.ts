import { badUserInput } from '@taskmesh/errors';

export const EPOCH_PARAMETERS = ['atLeast'] as const;

/** To be appended to a query string. */
export const queryOfEpoch = (atLeast: number | undefined): string =>
  atLeast === undefined ? '' : `&atLeast=${atLeast}`;

/** The lowest epoch allowed; the tasks service knows which are possible. @throws AppError BAD_USER_INPUT */
export function leastEpochOf(query: unknown): number | undefined {
  const { atLeast } = (query ?? {}) as Record<string, unknown>;
  if (atLeast === undefined) return undefined;
  if (typeof atLeast === 'string' && /^\d{1,10}$/.test(atLeast)) return Number(atLeast);
  throw badUserInput([{ path: 'atLeast', message: 'must be a whole number' }], 'atLeast must be a whole number.');
}
