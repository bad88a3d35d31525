import { parseInput } from '@taskmesh/contracts';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { readParameters } from '../../http/query-parameters.ts';

export interface QueryRules<Query> {
  schema: z.ZodObject;
  /** @throws AppError for invalid parameters */
  read(request: Pick<FastifyRequest, 'url' | 'query'>): Query;
}

/** Checks each parameter by its schema and allows it once; unknown ones are ignored. */
export function checkedQuery<Schema extends z.ZodObject>(schema: Schema): QueryRules<z.output<Schema>> {
  const known = new Set(Object.keys(schema.shape));
  return { schema, read: ({ url }) => parseInput(schema, readParameters(url, known)) };
}

/** The text of a query, in the order of its parameters; those without a value are left out. */
export function queryText(parameters: Record<string, string | number | undefined>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) text.append(name, String(value));
  return text.toString();
}

/** The raw query, for another reader. `schema` is only for the API description. */
export function wholeQuery(schema: z.ZodObject): QueryRules<string> {
  return { schema, read: ({ url }) => url.slice(url.indexOf('?') + 1 || url.length) };
}
