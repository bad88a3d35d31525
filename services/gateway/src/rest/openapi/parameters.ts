import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { IDEMPOTENCY_KEY, IF_MATCH } from '../request/preconditions.ts';
import type { JsonSchema, Parameter } from './types.ts';

export function parametersOf({ path, query, headers = [] }: Endpoint): Parameter[] {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name)),
    ...headers.map((name) => HEADERS[name]),
    ...(query ? queryParameters(query.schema) : []),
  ];
}

function queryParameters(query: z.ZodObject): Parameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input' }) as JsonSchema; // an object's schema
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const byDefault = query.shape[name]?.meta()?.default;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: byDefault === undefined ? schema : { ...schema, default: byDefault },
    };
  });
}

function pathParameter(name: string): Parameter {
  const parameter = PATH[name];
  if (!parameter) throw new Error(`the parameter ${name} has no description`);
  return { name, in: 'path', required: true, ...parameter };
}

const PATH: Record<string, Pick<Parameter, 'description' | 'schema'>> = {
  id: {
    description: 'The id of a task. Anything but a UUID is not found.',
    schema: { type: 'string', format: 'uuid' },
  },
  tokenId: {
    description: 'The id of one of your tokens, from the list.',
    schema: { type: 'string', format: 'uuid' },
  },
  identityId: {
    description: 'The id of one of your linked identities, from the list.',
    schema: { type: 'string', format: 'uuid' },
  },
  sessionId: {
    description: 'The id of one of your sessions, from the list.',
    schema: { type: 'string', format: 'uuid' },
  },
  deadLetterId: {
    description: 'The id of a dead letter, from the list.',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  },
  file: {
    description: 'The name of an archive, from the list.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};

const HEADERS: Record<NonNullable<Endpoint['headers']>[number], Parameter> = {
  'if-match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it. The request fails with 412 if it has changed since.',
    schema: { type: 'string', pattern: IF_MATCH.source, examples: ['"1"'] },
  },
  'if-none-match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it. The response is 304 without a body if it has not changed.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  'idempotency-key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes retries safe: for 24 hours, the same key with the same body creates only one task.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
  },
};
