import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly, newToken, tokenList, type NewTokenBody, type TokenListBody } from '../schemas/answers.ts';
import { createToken } from '../schemas/requests.ts';
import { messageBody, tokenOf } from './rest-bodies.ts';

const TOKEN_ENDED = 'The token has ended.';

/** Personal access tokens, which users create for programs. */
export const tokenEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/tokens',
    name: 'listTokens',
    summary: 'Your personal tokens',
    description: 'Your valid tokens, newest first.',
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
    summary: 'Create a personal token for a program',
    description:
      'It is used like an access token, to read only or to read and write, until it expires (after at most 366 days) or you ' +
      'revoke it. Requires a session: personal tokens cannot create others. An account can have at most 100 valid tokens.',
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
    path: '/auth/tokens/{tokenId}',
    name: 'endToken',
    summary: 'Revoke one of your personal tokens',
    description: 'Requires a session.',
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
