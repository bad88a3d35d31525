import { action, type Endpoint, endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { profile } from '../schemas/responses.ts';
import { changeEmail, changeName, changePassword, confirmEmail, deleteAccount } from '../schemas/requests.ts';

export const accountEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /auth/profile', {
    name: 'profile',
    summary: 'Your profile',
    needs: OPERATIONS.profile,
    responseSchema: profile,
    handle: async ({ run }) => ({ body: (await run(OPERATIONS.profile, {})).profile }),
  }),
  endpoint('user', 'PATCH /auth/profile', {
    name: 'changeName',
    summary: 'Change your name',
    needs: OPERATIONS.changeName,
    bodySchema: changeName,
    responseSchema: profile,
    handle: async ({ body, run }) => ({ body: (await run(OPERATIONS.changeName, body)).profile }),
  }),
  action('user', 'POST /auth/change-password', {
    name: 'changePassword',
    summary: 'Change your password',
    description:
      'Requires the current one. Ends all other sessions and sends a notice by mail. Wrong passwords count as failed logins.',
    needs: OPERATIONS.changePassword,
    bodySchema: changePassword,
    message: 'The password is changed, and all other sessions have ended.',
    handle: ({ body: { current_password: currentPassword, password: newPassword }, run }) =>
      run(OPERATIONS.changePassword, { input: { currentPassword, newPassword } }),
  }),
  action('user', 'POST /auth/change-email', {
    name: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Mails a token to the new address, which takes effect with `/auth/confirm-email`. The response is the same if another ' +
      'account has that address. Wrong passwords count as failed logins.',
    needs: OPERATIONS.requestEmailChange,
    bodySchema: changeEmail,
    message: 'A mail with further steps is on its way to the new address.',
    handle: ({ body, run }) => run(OPERATIONS.requestEmailChange, { input: body }),
  }),
  action('optional', 'POST /auth/confirm-email', {
    name: 'confirmEmail',
    summary: 'Confirm a new e-mail address',
    description:
      'Requires the token from the mail and, because a stranger may have received it, an access token of a session of the account or ' +
      'its password. The token is valid once; a refused attempt does not use it up. Wrong passwords count as failed logins. The old ' +
      'address gets a notice by mail.',
    needs: OPERATIONS.confirmEmailChange,
    bodySchema: confirmEmail,
    message: 'The address is changed.',
    errors: ['CONFLICT'],
    handle: ({ body, run }) => run(OPERATIONS.confirmEmailChange, body),
  }),
  action('user', 'DELETE /auth/profile', {
    name: 'deleteAccount',
    summary: 'Delete your account with everything it owns',
    description:
      'Permanent. Requires the password, and a session: a personal token is not enough. All sessions end, all personal tokens are ' +
      'revoked, the tasks are deleted, and the address, which gets a last mail, can be used again. Wrong passwords count as failed logins.',
    needs: OPERATIONS.deleteAccount,
    bodySchema: deleteAccount,
    message: 'The account is deleted, with everything that it owned.',
    handle: ({ body, run }) => run(OPERATIONS.deleteAccount, { input: body }),
  }),
];
