import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
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
  id: { description: 'A task. What is no UUID is not found.', schema: { type: 'string', format: 'uuid' } },
  token: {
    description: 'The id of a token of yours, as the list shows it.',
    schema: { type: 'string', format: 'uuid' },
  },
  identity: {
    description: 'A linked identity of yours, as the list shows it.',
    schema: { type: 'string', format: 'uuid' },
  },
  session: { description: 'A session of yours, as the list shows it.', schema: { type: 'string', format: 'uuid' } },
  deadLetter: {
    description: 'A dead letter, as the list shows it.',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  },
  file: { description: 'The name of an archive, as the list shows it.', schema: { type: 'string', maxLength: 255 } },
};

const HEADERS: Record<NonNullable<Endpoint['headers']>[number], Parameter> = {
  'if-match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it: the change is refused (412) when there is another by now.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  'if-none-match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it: the answer is a 304 without a body while it is still that.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  'idempotency-key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a retry safe: within 24 hours the same key with the same body creates one task only.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};
