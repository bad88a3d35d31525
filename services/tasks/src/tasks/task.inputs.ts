import { text } from '@taskmesh/contracts';
import { z } from 'zod';

const MAX_PAGE = 1_000;
const MAX_INT = 2_147_483_647;
const DEFAULT_PAGE = 50;

const first = `first must be from 1 to ${MAX_PAGE}.`;

/** The arguments of a list; `null` always counts as absent. */
export const listInput = z
  .object({
    filter: z
      .object({
        completed: z.boolean().nullish(),
        category: text('category', { max: 255 }).nullish(),
        priority: z.enum(['low', 'medium', 'high']).nullish(),
      })
      .nullish()
      .transform((filter) => filter ?? {}),
    first: z
      .int(first)
      .min(1, first)
      .max(MAX_PAGE, first)
      .nullish()
      .transform((count) => count ?? DEFAULT_PAGE),
    after: z.string().nullish(),
    offset: z.int().min(0, 'offset must not be negative.').max(MAX_INT).nullish(),
  })
  .refine(({ after, offset }) => after == null || offset == null, {
    path: ['offset'],
    message: 'after and offset exclude each other.',
  });

export const idempotencyKeyInput = z.object({
  idempotencyKey: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'idempotencyKey must have 1 to 255 printable ASCII characters.'),
});
