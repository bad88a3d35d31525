import type { AdminRoute } from '@taskmesh/service';
import type { DeadLetterService } from './dead-letter.service.ts';

/** Described in docs/runbooks/dead-letters.md. */
export function deadLetterRoutes(deadLetters: DeadLetterService): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/dead-letters',
      handle: async ({ query: { after, limit } }) => ({
        deadLetters: await deadLetters.deadLetters({
          ...(after !== undefined && { after }),
          ...(limit !== undefined && { limit: Number(limit) }),
        }),
      }),
    },
    { method: 'POST', path: '/dead-letters/replay', handle: ({ body }) => deadLetters.replayDeadLetters(body) },
    { method: 'POST', path: '/dead-letters/discard', handle: ({ body }) => deadLetters.discardDeadLetters(body) },
  ];
}
