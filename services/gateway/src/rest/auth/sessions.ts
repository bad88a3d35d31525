import { type Endpoint, userEndpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import {
  messageOnly,
  newToken,
  type NewTokenBody,
  sessionList,
  type SessionListBody,
  tokenList,
  type TokenListBody,
} from '../schemas/answers.ts';
import { createToken } from '../schemas/requests.ts';
import { messageBody, sessionOf, tokenOf } from './rest-bodies.ts';

const SESSION_ENDED = 'The session has ended.';
const OTHERS_ENDED = 'All other sessions have ended.';

export const sessionEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/sessions',
    name: 'listSessions',
    summary: 'Your sessions',
    description: 'Your active sessions, newest first, at most 1,000.',
    needs: OPERATIONS.sessions,
    status: 200,
    answerSchema: sessionList,
    handle: async ({ run }) => {
      const { sessions } = await run(OPERATIONS.sessions, {});
      const body: SessionListBody = { sessions: sessions.map(sessionOf) };
      return { body };
    },
  }),
  userEndpoint({
    method: 'DELETE',
    path: '/auth/sessions',
    name: 'endOtherSessions',
    summary: 'End all other sessions',
    description: 'Ends all sessions except the one of this request, and revokes their tokens.',
    needs: OPERATIONS.endOtherSessions,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: OTHERS_ENDED,
    handle: async ({ run }) => {
      await run(OPERATIONS.endOtherSessions, {});
      return messageBody(OTHERS_ENDED);
    },
  }),
  userEndpoint({
    method: 'DELETE',
    path: '/auth/sessions/{sessionId}',
    name: 'endSession',
    summary: 'End one of your sessions',
    description: 'Revokes its tokens. It can be the session of this request.',
    needs: OPERATIONS.endSession,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: SESSION_ENDED,
    errors: ['NOT_FOUND'],
    handle: async ({ id, run }) => {
      await run(OPERATIONS.endSession, { id });
      return messageBody(SESSION_ENDED);
    },
  }),
];

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
