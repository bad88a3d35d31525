import { z } from 'zod';
import { choice } from './text.ts';
import { parseInput } from './parse.ts';

const refusalOf = (schema: z.ZodType, input: unknown) => {
  try {
    parseInput(schema, input);
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
  return undefined;
};

describe('a refused input', () => {
  it('is described by its field names if the schema has no message', () => {
    const schema = z.object({ ids: z.array(z.string().max(2)), all: z.literal(true) });
    expect(refusalOf(schema, { ids: ['1', '222', 3] })).toBe(
      'ids.1 is not valid. ids.2 is not valid. all is required.',
    );
  });

  it('is described without the words of a choice if it is null, because GraphQL spells them differently', () => {
    const schema = z.object({ priority: choice('priority', ['low', 'high']) });
    expect(refusalOf(schema, { priority: null })).toBe('priority must not be null.');
    expect(refusalOf(schema, { priority: 'LOW' })).toBe('priority must be one of low, high.');
    expect(refusalOf(schema, {})).toBe('priority is required: one of low, high.');
  });
});
