import { notFound } from '@taskmesh/contracts';
import type { DeadLettersInternal } from '@taskmesh/internal-api';
import { operatorEndpoint, type Endpoint } from '../endpoint.ts';
import { checkedQuery } from '../request/query.ts';
import {
  deadLetterChoice,
  deadLetterList,
  deadLettersQuery,
  discardedDeadLetters,
  operatorsMessage,
  PAGE,
  replayedDeadLetters,
} from '../schemas/operators.ts';

const REPLAY =
  'The relay publishes their changes again, as stored. If a change is refused again, it becomes a dead letter again; if it is no longer kept, the dead letter stays.';

/** What the feed could not carry: docs/runbooks/dead-letters.md. */
export const deadLetterEndpoints = (letters: DeadLettersInternal): readonly Endpoint[] => [
  operatorEndpoint({
    method: 'GET',
    path: '/operations/dead-letters',
    name: 'listDeadLetters',
    summary: 'List the dead letters',
    description:
      'Oldest first: changes that the event log refused, and records in it that gateways could not read, which may contain user data. None of these changes is lost.',
    query: checkedQuery(deadLettersQuery),
    status: 200,
    answerSchema: deadLetterList,
    isPaged: true,
    handle: async ({ query: { after, limit = PAGE.usual } }) => {
      const found = await letters.deadLetters({ ...(after !== undefined && { after }), limit: limit + 1 });
      const data = found.slice(0, limit);
      const last = data.at(-1)?.id;
      const message = data.length === 1 ? '1 dead letter found.' : `${data.length} dead letters found.`;
      return {
        body: { success: true, message, count: data.length, data },
        ...(found.length > limit && last !== undefined && { next: `after=${last}&limit=${limit}` }),
      };
    },
  }),
  operatorEndpoint({
    method: 'POST',
    path: '/operations/dead-letters/replay',
    name: 'replayDeadLetters',
    summary: 'Publish dead letters again',
    description: REPLAY,
    bodySchema: deadLetterChoice,
    status: 200,
    answerSchema: replayedDeadLetters,
    handle: async ({ body }) => {
      const { replayed } = await letters.replayDeadLetters(body);
      return { body: { success: true, message: `Published again: ${replayed}.`, replayed } };
    },
  }),
  operatorEndpoint({
    method: 'POST',
    path: '/operations/dead-letters/discard',
    name: 'discardDeadLetters',
    summary: 'Discard dead letters',
    bodySchema: deadLetterChoice,
    status: 200,
    answerSchema: discardedDeadLetters,
    handle: async ({ body }) => {
      const { discarded } = await letters.discardDeadLetters(body);
      return { body: { success: true, message: `Discarded: ${discarded}.`, discarded } };
    },
  }),
  operatorEndpoint({
    method: 'POST',
    path: '/operations/dead-letters/{deadLetterId}/replay',
    name: 'replayDeadLetter',
    summary: 'Publish a dead letter again',
    description: REPLAY,
    status: 200,
    answerSchema: operatorsMessage,
    exampleMessage: 'Published again.',
    errors: ['NOT_FOUND'],
    handle: async ({ id }) => {
      const { replayed } = await letters.replayDeadLetters({ ids: [letterId(id)] });
      if (replayed === 0) throw notFound('There is no such dead letter, or its change is no longer kept.');
      return { body: { success: true, message: 'Published again.' } };
    },
  }),
  operatorEndpoint({
    method: 'DELETE',
    path: '/operations/dead-letters/{deadLetterId}',
    name: 'discardDeadLetter',
    summary: 'Discard a dead letter',
    status: 200,
    answerSchema: operatorsMessage,
    exampleMessage: 'Discarded.',
    errors: ['NOT_FOUND'],
    handle: async ({ id }) => {
      const { discarded } = await letters.discardDeadLetters({ ids: [letterId(id)] });
      if (discarded === 0) throw unknownLetter();
      return { body: { success: true, message: 'Discarded.' } };
    },
  }),
];

const unknownLetter = () => notFound('There is no such dead letter.');

/** @throws AppError NOT_FOUND for what no dead letter is called */
function letterId(id: string): string {
  if (!/^\d{1,18}$/.test(id)) throw unknownLetter();
  return id;
}
