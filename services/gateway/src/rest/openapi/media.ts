import type { z } from 'zod';
import { isBytes, type Bytes } from '../endpoint.ts';
import type { MediaType } from './types.ts';

/** Describes a body: JSON with a named schema and an example, or bytes. */
export function contentOf(schema: z.ZodType | Bytes<unknown>, exampleMessage?: string): Record<string, MediaType> {
  if (!isBytes(schema)) return { 'application/json': mediaOf(schema, exampleMessage) };
  const { mediaTypes, description } = schema;
  return Object.fromEntries(
    mediaTypes.map((type) => [type, { schema: { type: 'string', format: 'binary', description } }]),
  );
}

export function mediaOf(schema: z.ZodType, exampleMessage?: string): MediaType {
  const example = exampleOf(schema);
  return {
    schema: { $ref: `#/components/schemas/${idOf(schema)}` },
    example: exampleMessage === undefined ? example : Object.assign({}, example, { message: exampleMessage }),
  };
}

function exampleOf(schema: z.ZodType): unknown {
  const { examples } = schema.meta() ?? {};
  return Array.isArray(examples) ? examples[0] : undefined;
}

export function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('a schema of the API has no name');
  return id;
}
