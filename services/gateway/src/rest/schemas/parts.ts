import { timeSchema } from '@taskmesh/internal-api';
import { z } from 'zod';

export const uuid = z.string().meta({ format: 'uuid' });
export const time = timeSchema;
export const message = z.string().meta({ description: 'For people to read.' });
export const success = z.literal(true);
export const integer = (description: string) => z.int().meta({ description });
export const text = (description: string) => z.string().meta({ description });
export const flag = (description: string) => z.boolean().meta({ description });

/** Names a schema in the API description. */
export const named = <Schema extends z.ZodType>(id: string, schema: Schema): Schema => schema.meta({ id });

/** Names a request body in the API description, and gives an example. */
export const bodyOf = <Schema extends z.ZodType>(id: string, schema: Schema, example: z.input<Schema>): Schema =>
  schema.meta({ id, examples: [example] });

/** A response with a message only. */
export const doneSchema = named('Done', z.object({ success, message }));

/** A response with a message and data. */
export const dataSchema = <Data extends z.ZodType>(id: string, data: Data) =>
  named(id, z.object({ success, message, data }));

/** A response with a message and a list. */
export const listSchema = <Each extends z.ZodType>(id: string, each: Each) =>
  named(id, z.object({ success, message, count: integer('The length of `data`.'), data: z.array(each) }));
