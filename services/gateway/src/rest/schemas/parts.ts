import { z } from 'zod';

export const uuid = z.string().meta({ format: 'uuid' });
export const time = z.string().meta({ format: 'date-time', description: 'In UTC, with milliseconds and Z.' });
export const message = z.string().meta({ description: 'For people to read.' });
export const success = z.literal(true);
export const whole = (description: string) => z.int().meta({ description });
export const text = (description: string) => z.string().meta({ description });
export const flag = (description: string) => z.boolean().meta({ description });

/** A schema as the API description has it: by this name. */
export const named = <Schema extends z.ZodType>(id: string, schema: Schema): Schema => schema.meta({ id });

/** A body as the API description has it: by this name, with an example. */
export const bodyOf = <Schema extends z.ZodType>(id: string, schema: Schema, example: z.input<Schema>): Schema =>
  schema.meta({ id, examples: [example] });

/** An answer that only says how it went. */
export const doneAnswer = named('Done', z.object({ success, message }));

/** An answer that says how it went, with some data. */
export const answered = <Data extends z.ZodType>(id: string, data: Data) =>
  named(id, z.object({ success, message, data }));

/** An answer with a list of one. */
export const listed = <Each extends z.ZodType>(id: string, each: Each) =>
  named(id, z.object({ success, message, count: whole('The length of `data`.'), data: z.array(each) }));
