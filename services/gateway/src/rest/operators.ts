import { notFound, unauthenticated } from '@taskmesh/contracts';
import type { DeadLettersInternal } from '@taskmesh/internal-api';
import { checkedQuery, successResponse, type Endpoint, endpoint, listResponse } from './endpoint.ts';
import * as schemas from './schemas/operators.ts';
import { doneSchema } from './schemas/parts.ts';

const REPLAY =
  'The relay publishes their changes again, as stored. If a change is refused again, it becomes a dead letter again; if it is no longer kept, the dead letter stays.';

/** Changes and records that the feed could not carry: docs/runbooks/dead-letters.md. */
export const deadLetterEndpoints = (letters: DeadLettersInternal): readonly Endpoint[] => [
  endpoint('operator', 'GET /operations/dead-letters', {
    name: 'listDeadLetters',
    summary: 'List the dead letters',
    description:
      'Oldest first: changes that the event log refused, and records in it that gateways could not read, which may contain user data. None of these changes is lost.',
    query: checkedQuery(schemas.deadLettersQuery),
    responseSchema: schemas.deadLetterList,
    isPaged: true,
    handle: async ({ query: { after, limit = schemas.PAGE.usual } }) => {
      const letterPage = await letters.deadLetters({ ...(after !== undefined && { after }), limit: limit + 1 });
      const data = letterPage.slice(0, limit);
      const last = data.at(-1)?.id;
      return {
        ...listResponse('dead letter', data),
        ...(letterPage.length > limit && last !== undefined && { next: `after=${last}&limit=${limit}` }),
      };
    },
  }),
  endpoint('operator', 'POST /operations/dead-letters/replay', {
    name: 'replayDeadLetters',
    summary: 'Publish dead letters again',
    description: REPLAY,
    bodySchema: schemas.deadLetterChoice,
    responseSchema: schemas.replayedDeadLetters,
    handle: async ({ body }) => {
      const { replayed } = await letters.replayDeadLetters(body);
      return successResponse(`Published again: ${replayed}.`, { replayed });
    },
  }),
  endpoint('operator', 'POST /operations/dead-letters/discard', {
    name: 'discardDeadLetters',
    summary: 'Discard dead letters',
    bodySchema: schemas.deadLetterChoice,
    responseSchema: schemas.discardedDeadLetters,
    handle: async ({ body }) => {
      const { discarded } = await letters.discardDeadLetters(body);
      return successResponse(`Discarded: ${discarded}.`, { discarded });
    },
  }),
  endpoint('operator', 'POST /operations/dead-letters/{deadLetterId}/replay', {
    name: 'replayDeadLetter',
    summary: 'Publish a dead letter again',
    description: REPLAY,
    responseSchema: doneSchema,
    errors: ['NOT_FOUND'],
    handle: async ({ id }) => {
      const { replayed } = await letters.replayDeadLetters({ ids: [letterId(id)] });
      if (replayed === 0) throw notFound('There is no such dead letter, or its change is no longer kept.');
      return successResponse('Published again.');
    },
  }),
  endpoint('operator', 'DELETE /operations/dead-letters/{deadLetterId}', {
    name: 'discardDeadLetter',
    summary: 'Discard a dead letter',
    responseSchema: doneSchema,
    errors: ['NOT_FOUND'],
    handle: async ({ id }) => {
      const { discarded } = await letters.discardDeadLetters({ ids: [letterId(id)] });
      if (discarded === 0) throw unknownLetter();
      return successResponse('Discarded.');
    },
  }),
];

const unknownLetter = () => notFound('There is no such dead letter.');

/** @throws AppError NOT_FOUND unless it has the form of a dead letter's id */
function letterId(id: string): string {
  if (!/^\d{1,18}$/.test(id)) throw unknownLetter();
  return id;
}

const HEALTHY_MESSAGE = 'All is well.';

/** Whether the caller is an operator, and the health of the platform. */
export const statusEndpoints = (readStatus: () => Promise<schemas.PlatformStatus>): readonly Endpoint[] => [
  endpoint('operator', 'POST /operations/check', {
    name: 'checkOperator',
    summary: 'Check whether the caller is an operator',
    description:
      'Changes nothing. Meant for pages: browsers send `Origin` only with a POST, so a GET could not check their token.',
    responseSchema: doneSchema,
    handle: () => successResponse('You are an operator.'),
  }),
  endpoint('operator', 'GET /operations/status', {
    name: 'readStatus',
    summary: 'The health of the platform',
    description:
      'Services and their databases, the feed, the readers at this gateway, and backups, as seen by this gateway through the process of each service that it reaches. What is down is reported as down within about a second, and what only it would know is null.',
    responseSchema: schemas.platformStatus,
    handle: async () => {
      const data = await readStatus();
      return successResponse(data.problems.length === 0 ? HEALTHY_MESSAGE : data.problems.join(' '), { data });
    },
  }),
];

/** Exchanges a code for its token. A code works once. */
export type ExchangeCode = (code: string) => string | undefined;

/** Signs in operators on a page that was opened at an address with a code. */
export const operatorsSignInEndpoints = (exchangeCode: ExchangeCode): readonly Endpoint[] => [
  endpoint('operators-place', 'POST /operations/sign-in', {
    name: 'signInOperator',
    summary: 'Exchange a code for the token of this machine',
    description:
      'For our own page, opened on this machine at the address shown in the terminal. Its code is valid once, for ten minutes. 401 after that, and if no such token exists.',
    bodySchema: schemas.operatorsCode,
    responseSchema: schemas.operatorsToken,
    handle: ({ body: { code } }) => {
      const token = exchangeCode(code);
      if (token === undefined) throw unauthenticated('The address was opened before, or is too old: use the token.');
      return successResponse('You are an operator.', { data: { token } });
    },
  }),
];
