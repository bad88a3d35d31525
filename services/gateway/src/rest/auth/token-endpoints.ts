import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly, newToken, tokenList, type NewTokenBody, type TokenListBody } from '../schemas/answers.ts';
import { createToken } from '../schemas/requests.ts';
import { tokenOf } from './rest-bodies.ts';
import { messageBody } from './message-body.ts';

const TOKEN_ENDED = 'The token has ended.';

/** Personal access tokens, which users create for programs. */
export const tokenEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/tokens',
    name: 'listTokens',
    summary: 'Your personal tokens',
    description: 'Those that still count, newest first.',
    needs: OPERATIONS.personalTokens,
    status: 200,
    answerSchema: tokenList,
    handle: async ({ run }) => {
      const { tokens } = await run(OPERATIONS.personalTokens, {});
      const body: TokenListBody = { tokens: tokens.map(tokenOf) };
      return { body };
    },
  }),
  userEndpoint({
    method: 'POST',
    path: '/auth/tokens',
    name: 'createToken',
    summary: 'Make a personal token for a program',
    description:
      'It is used like an access token, for reading only or for writing, too, until it expires (in 366 days at the latest) or ' +
      'you end it. Needs a session: a personal token makes no others. An account has 100 living ones at most.',
    needs: OPERATIONS.createPersonalToken,
    bodySchema: createToken,
    status: 201,
    answerSchema: newToken,
    errors: ['CONFLICT', 'RATE_LIMITED'],
    handle: async ({ body: { name, scope, expires_at: expiresAt }, run }) => {
      const input = { name, scope: scope === 'read' ? 'READ' : 'WRITE', expiresAt } as const;
      const { created } = await run(OPERATIONS.createPersonalToken, { input });
      const body: NewTokenBody = { ...tokenOf(created.personalToken), token: created.token };
      return { body };
    },
  }),
  userEndpoint({
    method: 'DELETE',
    path: '/auth/tokens/{token}',
    name: 'endToken',
    summary: 'End one of your personal tokens',
    description: 'It counts no more afterwards. Needs a session.',
    needs: OPERATIONS.endPersonalToken,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: TOKEN_ENDED,
    errors: ['NOT_FOUND'],
    handle: async ({ id, run }) => {
      await run(OPERATIONS.endPersonalToken, { id });
      return messageBody(TOKEN_ENDED);
    },
  }),
];
