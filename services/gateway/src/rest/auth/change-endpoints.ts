import { optionalUserEndpoint, userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS, type ProfileNode } from '../operations.ts';
import { messageOnly, profile } from '../schemas/answers.ts';
import { changeEmail, changeName, changePassword, confirmEmail } from '../schemas/requests.ts';
import { profileOf } from './rest-bodies.ts';
import { messageBody } from './message-body.ts';

const PASSWORD_CHANGED = 'The password is changed, and all other sessions have ended.';
const MAIL_ON_ITS_WAY = 'A mail with further steps is on its way to the new address.';
const EMAIL_CHANGED = 'The address is changed.';

export const changeEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/profile',
    name: 'profile',
    summary: 'Who you are',
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
    summary: 'Set a new password with the current one',
    description:
      'Ends all other sessions, and a mail tells it to the address of the account. Wrong passwords count as failed logins.',
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
    summary: 'Ask for another address',
    description:
      'Mails a token to the new address, which becomes that of the account with `/auth/confirm-email`. The answer is the same ' +
      'when somebody else has it. Wrong passwords count as failed logins.',
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
    summary: 'Confirm another address with the token of the mail',
    description:
      'Needs the access token of a session of the account, or its password: whoever reads the mail need not own the account. A token ' +
      'works once, and a refusal does not use it up. Wrong passwords count as failed logins. A mail tells it to the former address.',
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

function profileAnswer({ profile: node }: { profile: ProfileNode }) {
  return { body: profileOf(node) };
}
