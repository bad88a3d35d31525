import type { z } from 'zod';
import type { MediaType } from './types.ts';

/** A body of a schema that has a name and an example. */
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

/** The name that a schema's `meta` gives. */
export function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('a schema of the API has no name');
  return id;
}
