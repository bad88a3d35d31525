import type { Troubles } from './schedule.ts';

/** Which troubles the worlds of these tests have. */
export const TROUBLES: Troubles = {
  fadingTokens: false,
  expiringTokens: false,
  lateLeaves: false,
  nestedPositions: false,
};
