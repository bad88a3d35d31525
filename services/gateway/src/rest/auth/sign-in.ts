import { publicEndpoint, userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { forgotPassword, login, refreshSession, resetPassword, signUp } from '../schemas/requests.ts';
import {
  messageOnly,
  refreshedTokens,
  session,
  tokenClaims,
  type RefreshedTokensBody,
  type TokenClaimsBody,
} from '../schemas/answers.ts';
import { accountEndpoints } from './account.ts';
import { changeEndpoints } from './account.ts';
import { dataEndpoints } from './data.ts';
import { messageBody, sessionAnswer } from './rest-bodies.ts';
import { sessionEndpoints } from './sessions.ts';
import { tokenEndpoints } from './sessions.ts';

const LOGGED_OUT = 'Logged out.';
const MAIL_ON_ITS_WAY = 'If there is an account with this address, a mail with further steps is on its way.';
const PASSWORD_CHANGED = 'The password is changed, and all sessions have ended. Sign in with the new password.';

/** Accounts and sessions, identical under each prefix. */
export const authEndpoints: readonly Endpoint[] = [
  publicEndpoint({
    method: 'POST',
    path: '/auth/signup',
    name: 'signUp',
    summary: 'Sign up',
    description:
      'Creates an account and logs in to it. A password has 8 to 128 characters (an installation may require more than 8) and must ' +
      'not be a common one. Addresses are unique, ignoring case. With `"refresh": true` the response includes a refresh token.',
    needs: OPERATIONS.signUp,
    bodySchema: signUp,
    status: 201,
    answerSchema: session,
    errors: ['CONFLICT', 'RATE_LIMITED'],
    handle: async ({ body: { refresh, ...input }, run }) =>
      sessionAnswer(await run(OPERATIONS.signUp, { input, refresh })),
  }),
  publicEndpoint({
    method: 'POST',
    path: '/auth/login',
    name: 'login',
    summary: 'Log in',
    description:
      'Unknown addresses and wrong passwords get the same response. With `"refresh": true` it includes a refresh token; ' +
      'without one, the session ends when the access token expires.',
    needs: OPERATIONS.login,
    bodySchema: login,
    status: 200,
    answerSchema: session,
    errors: ['UNAUTHENTICATED', 'RATE_LIMITED'],
    handle: async ({ body: { refresh, ...input }, run }) =>
      sessionAnswer(await run(OPERATIONS.login, { input, refresh })),
  }),
  userEndpoint({
    method: 'POST',
    path: '/auth/logout',
    name: 'logout',
    summary: 'Log out',
    description: 'Ends the session and revokes its tokens. A request body is ignored.',
    needs: OPERATIONS.logout,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: LOGGED_OUT,
    handle: async ({ run }) => {
      await run(OPERATIONS.logout, {});
      return messageBody(LOGGED_OUT);
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/auth/me',
    name: 'me',
    summary: 'The claims of the access token',
    // Needs no operation itself, but a graph without logout does not use our sessions.
    needs: OPERATIONS.logout,
    status: 200,
    answerSchema: tokenClaims,
    handle: ({ claims: { userId, email, iat, exp } }) => {
      const body: TokenClaimsBody = { userId, email, iat, exp };
      return { body };
    },
  }),
  publicEndpoint({
    method: 'POST',
    path: '/auth/forgot-password',
    name: 'forgotPassword',
    summary: 'Request a recovery mail',
    description: 'The response is the same whether or not the address has an account.',
    needs: OPERATIONS.requestPasswordReset,
    bodySchema: forgotPassword,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: MAIL_ON_ITS_WAY,
    errors: ['RATE_LIMITED'],
    handle: async ({ body, run }) => {
      await run(OPERATIONS.requestPasswordReset, body);
      return messageBody(MAIL_ON_ITS_WAY);
    },
  }),
  publicEndpoint({
    method: 'POST',
    path: '/auth/reset-password',
    name: 'resetPassword',
    summary: 'Set a new password with the token from a recovery mail',
    description:
      'Ends all sessions and revokes all personal tokens of the account. If the password is rejected, the token stays valid.',
    needs: OPERATIONS.resetPassword,
    bodySchema: resetPassword,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: PASSWORD_CHANGED,
    errors: ['RATE_LIMITED'],
    handle: async ({ body, run }) => {
      await run(OPERATIONS.resetPassword, { input: { token: body.token, newPassword: body.password } });
      return messageBody(PASSWORD_CHANGED);
    },
  }),
  publicEndpoint({
    method: 'POST',
    path: '/auth/refresh',
    name: 'refresh',
    summary: 'Exchange a refresh token for new tokens',
    description: 'A refresh token is valid once; using it again ends its session.',
    needs: OPERATIONS.refreshSession,
    bodySchema: refreshSession,
    status: 200,
    answerSchema: refreshedTokens,
    errors: ['UNAUTHENTICATED', 'RATE_LIMITED'],
    handle: async ({ body, run }) => {
      const { session: state } = await run(OPERATIONS.refreshSession, { refreshToken: body.refresh_token });
      const answer: RefreshedTokensBody = {
        access_token: state.accessToken,
        refresh_token: state.refreshToken,
        expires_in: state.expiresIn,
      };
      return { body: answer };
    },
  }),
  ...changeEndpoints,
  ...accountEndpoints,
  ...sessionEndpoints,
  ...tokenEndpoints,
  ...dataEndpoints,
];
