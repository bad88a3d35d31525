import { action, type Endpoint, endpoint } from '../endpoint.ts';
import { OPERATIONS, type PersonalTokenFragment } from '../operations.ts';
import { newToken, sessionList, tokenList } from '../schemas/responses.ts';
import { createToken } from '../schemas/requests.ts';

/** Sessions, and the personal access tokens that users create for programs. */
export const sessionEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /auth/sessions', {
    name: 'listSessions',
    summary: 'Your sessions',
    description: 'Your active sessions, newest first, at most 1,000.',
    needs: OPERATIONS.sessions,
    responseSchema: sessionList,
    handle: async ({ run }) => ({ body: await run(OPERATIONS.sessions, {}) }),
  }),
  action('user', 'DELETE /auth/sessions', {
    name: 'endOtherSessions',
    summary: 'End all other sessions',
    description: 'Ends all sessions except the one of this request, and revokes their tokens.',
    needs: OPERATIONS.endOtherSessions,
    message: 'All other sessions have ended.',
    handle: ({ run }) => run(OPERATIONS.endOtherSessions, {}),
  }),
  action('user', 'DELETE /auth/sessions/{sessionId}', {
    name: 'endSession',
    summary: 'End one of your sessions',
    description: 'Revokes its tokens. It can be the session of this request.',
    needs: OPERATIONS.endSession,
    message: 'The session has ended.',
    errors: ['NOT_FOUND'],
    handle: ({ id, run }) => run(OPERATIONS.endSession, { id }),
  }),
  endpoint('user', 'GET /auth/tokens', {
    name: 'listTokens',
    summary: 'Your personal tokens',
    description: 'Your valid tokens, newest first.',
    needs: OPERATIONS.personalTokens,
    responseSchema: tokenList,
    handle: async ({ run }) => ({ body: { tokens: (await run(OPERATIONS.personalTokens, {})).tokens.map(tokenOf) } }),
  }),
  endpoint('user', 'POST /auth/tokens', {
    name: 'createToken',
    summary: 'Create a personal token for a program',
    description:
      'It is used like an access token, to read only or to read and write, until it expires (after at most 366 days) or you ' +
      'revoke it. Requires a session: personal tokens cannot create others. An account can have at most 100 valid tokens.',
    needs: OPERATIONS.createPersonalToken,
    bodySchema: createToken,
    status: 201,
    responseSchema: newToken,
    errors: ['CONFLICT'],
    handle: async ({ body: { name, scope, expires_at: expiresAt }, run }) => {
      const input = { name, scope: scope === 'read' ? 'READ' : 'WRITE', expiresAt } as const;
      const { created } = await run(OPERATIONS.createPersonalToken, { input });
      return { body: { ...tokenOf(created.personalToken), token: created.token } };
    },
  }),
  action('user', 'DELETE /auth/tokens/{tokenId}', {
    name: 'endToken',
    summary: 'Revoke one of your personal tokens',
    description: 'Requires a session.',
    needs: OPERATIONS.endPersonalToken,
    message: 'The token has ended.',
    errors: ['NOT_FOUND'],
    handle: ({ id, run }) => run(OPERATIONS.endPersonalToken, { id }),
  }),
];

/** A personal token, with its scope in REST's spelling. */
export const tokenOf = (token: PersonalTokenFragment) => ({
  ...token,
  scope: token.scope === 'READ' ? ('read' as const) : ('write' as const),
});
