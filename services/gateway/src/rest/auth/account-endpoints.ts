import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly } from '../schemas/answers.ts';
import { deleteAccount } from '../schemas/requests.ts';
import { messageBody } from './message-body.ts';

const DELETED = 'The account is deleted, with everything that it owned.';

/** The end of an account. */
export const accountEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'DELETE',
    path: '/auth/profile',
    name: 'deleteAccount',
    summary: 'Delete your account with everything it owns',
    description:
      'For good, and with the password of the account; a personal token will not do. All sessions and personal tokens end, the ' +
      'tasks are deleted, and a last mail tells it to the address, which is free again. Wrong passwords count as failed logins.',
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
