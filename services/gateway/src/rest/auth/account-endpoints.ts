import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { messageOnly } from '../schemas/answers.ts';
import { deleteAccount } from '../schemas/requests.ts';
import { messageBody } from './rest-bodies.ts';

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
