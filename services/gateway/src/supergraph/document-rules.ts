import type { SizeOptions } from '@taskmesh/federation';

/** What fields of our graph count as (docs/limits.md). */
export const SIZES: SizeOptions = {
  maxPage: 1_000,
  lists: new Map([
    ['sessions', 500],
    ['personalTokens', 100],
  ]),
  /** Mutations that prove or replace a password, an address or a token: several at once would evade rate limits. */
  counted: new Set([
    ...['signUp', 'login', 'refreshSession', 'resetPassword', 'requestPasswordReset'],
    ...[
      'changePassword',
      'requestEmailChange',
      'confirmEmailChange',
      'deleteAccount',
      'signInWithCode',
      'linkIdentity',
    ],
  ]),
};
