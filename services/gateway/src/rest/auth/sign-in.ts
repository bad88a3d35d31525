import { action, type Endpoint, endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { forgotPassword, login, refreshSession, resetPassword, signUp } from '../schemas/requests.ts';
import { refreshedTokens, session, tokenClaims } from '../schemas/responses.ts';
import { accountEndpoints } from './account.ts';
import { dataEndpoints } from './data.ts';
import { sessionEndpoints } from './sessions.ts';

/** Accounts and sessions, identical under each prefix. */
export const authEndpoints: readonly Endpoint[] = [
  endpoint('public', 'POST /auth/signup', {
    name: 'signUp',
    summary: 'Sign up',
    description:
      'Creates an account and logs in to it. A password has 8 to 128 characters (an installation may require more than 8) and must ' +
      'not be a common one. Addresses are unique, ignoring case. With `"refresh": true` the response includes a refresh token.',
    needs: OPERATIONS.signUp,
    bodySchema: signUp,
    status: 201,
    responseSchema: session,
    errors: ['CONFLICT'],
    handle: async ({ body: { refresh, ...input }, run }) => ({
      body: (await run(OPERATIONS.signUp, { input, refresh })).session,
    }),
  }),
  endpoint('public', 'POST /auth/login', {
    name: 'login',
    summary: 'Log in',
    description:
      'Unknown addresses and wrong passwords get the same response. With `"refresh": true` it includes a refresh token; ' +
      'without one, the session ends when the access token expires.',
    needs: OPERATIONS.login,
    bodySchema: login,
    responseSchema: session,
    errors: ['UNAUTHENTICATED'],
    handle: async ({ body: { refresh, ...input }, run }) => ({
      body: (await run(OPERATIONS.login, { input, refresh })).session,
    }),
  }),
  action('user', 'POST /auth/logout', {
    name: 'logout',
    summary: 'Log out',
    description: 'Ends the session and revokes its tokens. A request body is ignored.',
    needs: OPERATIONS.logout,
    message: 'Logged out.',
    handle: ({ run }) => run(OPERATIONS.logout, {}),
  }),
  endpoint('user', 'GET /auth/me', {
    name: 'me',
    summary: 'The claims of the access token',
    // Needs no operation itself, but a graph without logout does not use our sessions.
    needs: OPERATIONS.logout,
    responseSchema: tokenClaims,
    handle: ({ claims: { userId, email, iat, exp } }) => ({ body: { userId, email, iat, exp } }),
  }),
  action('public', 'POST /auth/forgot-password', {
    name: 'forgotPassword',
    summary: 'Request a recovery mail',
    description: 'The response is the same whether or not the address has an account.',
    needs: OPERATIONS.requestPasswordReset,
    bodySchema: forgotPassword,
    message: 'If there is an account with this address, a mail with further steps is on its way.',
    handle: ({ body, run }) => run(OPERATIONS.requestPasswordReset, body),
  }),
  action('public', 'POST /auth/reset-password', {
    name: 'resetPassword',
    summary: 'Set a new password with the token from a recovery mail',
    description:
      'Ends all sessions and revokes all personal tokens of the account. If the password is rejected, the token stays valid.',
    needs: OPERATIONS.resetPassword,
    bodySchema: resetPassword,
    message: 'The password is changed, and all sessions have ended. Sign in with the new password.',
    handle: ({ body, run }) =>
      run(OPERATIONS.resetPassword, { input: { token: body.token, newPassword: body.password } }),
  }),
  endpoint('public', 'POST /auth/refresh', {
    name: 'refresh',
    summary: 'Exchange a refresh token for new tokens',
    description: 'A refresh token is valid once; using it again ends its session.',
    needs: OPERATIONS.refreshSession,
    bodySchema: refreshSession,
    responseSchema: refreshedTokens,
    errors: ['UNAUTHENTICATED'],
    handle: async ({ body: { refresh_token: refreshToken }, run }) => ({
      body: (await run(OPERATIONS.refreshSession, { refreshToken })).session,
    }),
  }),
  ...accountEndpoints,
  ...sessionEndpoints,
  ...dataEndpoints,
];
