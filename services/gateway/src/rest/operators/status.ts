import type { PlatformStatus } from '../../status/platform-status.ts';
import { operatorEndpoint, type Endpoint } from '../endpoint.ts';
import { operatorsMessage, platformStatus } from '../schemas/operators.ts';

const WELL = 'All is well.';

/** Who is an operator, and how the platform is. */
export const statusEndpoints = (readStatus: () => Promise<PlatformStatus>): readonly Endpoint[] => [
  operatorEndpoint({
    method: 'POST',
    path: '/operations/check',
    name: 'checkOperator',
    summary: 'Check whether the caller is an operator',
    description:
      'Changes nothing. Meant for pages: browsers send `Origin` only with a POST, so a GET could not check their token.',
    status: 200,
    answerSchema: operatorsMessage,
    exampleMessage: 'You are an operator.',
    handle: () => ({ body: { success: true, message: 'You are an operator.' } }),
  }),
  operatorEndpoint({
    method: 'GET',
    path: '/operations/status',
    name: 'readStatus',
    summary: 'The health of the platform',
    description:
      'Services and their databases, the feed, the readers at this gateway, and backups, as seen by this gateway through the process of each service that it reaches. What is down is reported as down within about a second, and what only it would know is null.',
    status: 200,
    answerSchema: platformStatus,
    exampleMessage: WELL,
    handle: async () => {
      const data = await readStatus();
      const message = data.problems.length === 0 ? WELL : data.problems.join(' ');
      return { body: { success: true, message, data } };
    },
  }),
];
