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
    summary: 'Tell whether the caller is an operator',
    description:
      'Changes nothing. For a page: its browser sends `Origin` along with a POST only, so that a GET says nothing of a token.',
    status: 200,
    answerSchema: operatorsMessage,
    exampleMessage: 'You are an operator.',
    handle: () => ({ body: { success: true, message: 'You are an operator.' } }),
  }),
  operatorEndpoint({
    method: 'GET',
    path: '/operations/status',
    name: 'readStatus',
    summary: 'How the platform is',
    description:
      'As the gateway that answers sees it, of each service by the process that it reaches: services and their databases, the feed, this gateway’s readers, backups. What is down is shown as down, within about a second, and what only that knows is null.',
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
