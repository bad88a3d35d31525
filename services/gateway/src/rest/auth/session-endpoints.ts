import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly, sessionList, type SessionListBody } from '../schemas/answers.ts';
import { messageBody, sessionOf } from './rest-bodies.ts';

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
