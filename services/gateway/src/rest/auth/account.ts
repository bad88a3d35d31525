import { type Endpoint, optionalUserEndpoint, userEndpoint } from '../endpoint.ts';
import { OPERATIONS, type ProfileFragment } from '../operations.ts';
import { messageOnly, profile } from '../schemas/answers.ts';
import { changeEmail, changeName, changePassword, confirmEmail, deleteAccount } from '../schemas/requests.ts';
import { messageBody, profileOf } from './rest-bodies.ts';

const PASSWORD_CHANGED = 'The password is changed, and all other sessions have ended.';
const MAIL_ON_ITS_WAY = 'A mail with further steps is on its way to the new address.';
const EMAIL_CHANGED = 'The address is changed.';

export const changeEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/profile',
    name: 'profile',
    summary: 'Your profile',
    needs: OPERATIONS.profile,
    status: 200,
    answerSchema: profile,
    handle: async ({ run }) => profileAnswer(await run(OPERATIONS.profile, {})),
  }),
  userEndpoint({
    method: 'PATCH',
    path: '/auth/profile',
    name: 'changeName',
    summary: 'Change your name',
    needs: OPERATIONS.changeName,
    bodySchema: changeName,
    status: 200,
    answerSchema: profile,
    handle: async ({ body, run }) => profileAnswer(await run(OPERATIONS.changeName, body)),
  }),
  userEndpoint({
    method: 'POST',
    path: '/auth/change-password',
    name: 'changePassword',
    summary: 'Change your password',
    description:
      'Requires the current one. Ends all other sessions and sends a notice by mail. Wrong passwords count as failed logins.',
    needs: OPERATIONS.changePassword,
    bodySchema: changePassword,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: PASSWORD_CHANGED,
    errors: ['RATE_LIMITED'],
    handle: async ({ body: { current_password: currentPassword, password: newPassword }, run }) => {
      await run(OPERATIONS.changePassword, { input: { currentPassword, newPassword } });
      return messageBody(PASSWORD_CHANGED);
    },
  }),
  userEndpoint({
    method: 'POST',
    path: '/auth/change-email',
    name: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Mails a token to the new address, which takes effect with `/auth/confirm-email`. The response is the same if another ' +
      'account has that address. Wrong passwords count as failed logins.',
    needs: OPERATIONS.requestEmailChange,
    bodySchema: changeEmail,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: MAIL_ON_ITS_WAY,
    errors: ['RATE_LIMITED'],
    handle: async ({ body, run }) => {
      await run(OPERATIONS.requestEmailChange, { input: body });
      return messageBody(MAIL_ON_ITS_WAY);
    },
  }),
  optionalUserEndpoint({
    method: 'POST',
    path: '/auth/confirm-email',
    name: 'confirmEmail',
    summary: 'Confirm a new e-mail address',
    description:
      'Requires the token from the mail and, because a stranger may have received it, an access token of a session of the account or ' +
      'its password. The token is valid once; a refused attempt does not use it up. Wrong passwords count as failed logins. The old ' +
      'address gets a notice by mail.',
    needs: OPERATIONS.confirmEmailChange,
    bodySchema: confirmEmail,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: EMAIL_CHANGED,
    errors: ['CONFLICT', 'RATE_LIMITED'],
    handle: async ({ body, run }) => {
      await run(OPERATIONS.confirmEmailChange, body);
      return messageBody(EMAIL_CHANGED);
    },
  }),
];

function profileAnswer({ profile: node }: { profile: ProfileFragment }) {
  return { body: profileOf(node) };
}

const DELETED = 'The account is deleted, with everything that it owned.';

/** The end of an account. */
export const accountEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'DELETE',
    path: '/auth/profile',
    name: 'deleteAccount',
    summary: 'Delete your account with everything it owns',
    description:
      'Permanent. Requires the password, and a session: a personal token is not enough. All sessions end, all personal tokens are ' +
      'revoked, the tasks are deleted, and the address, which gets a last mail, can be used again. Wrong passwords count as failed logins.',
    needs: OPERATIONS.deleteAccount,
    bodySchema: deleteAccount,
    status: 200,
    answerSchema: messageOnly,
    exampleMessage: DELETED,
    errors: ['RATE_LIMITED'],
    handle: async ({ body, run }) => {
      await run(OPERATIONS.deleteAccount, { input: body });
      return messageBody(DELETED);
    },
  }),
];
