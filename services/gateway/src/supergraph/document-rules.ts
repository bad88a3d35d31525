import type { DocumentsOptions, SizeOptions } from '@taskmesh/federation';
import { LARGE_COST } from './operation.ts';

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

/** Hand-written operations have fewer. */
const MANY_FIELDS = 100;

/** How clients' documents are prepared, in addition to the configured limits (docs/limits.md). */
export const DOCUMENT_RULES: Omit<DocumentsOptions, 'schema' | 'limits'> = {
  sizes: SIZES,
  rules: (_operation, { counted }) =>
    counted > 1
      ? ['An operation may have one mutation that proves or replaces a password, an address or a token.']
      : [],
  /** Planning and starting it takes milliseconds. The cost of introspection does not reflect how many types the schema has. */
  isLarge: ({ fields, cost, introspectionDepth }) =>
    fields > MANY_FIELDS || cost > LARGE_COST || introspectionDepth > 0,
};
