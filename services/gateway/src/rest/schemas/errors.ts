import { z } from 'zod';

const message = z.string().meta({ description: 'A sentence for people.' });

const error = z.object({
  code: z.string().meta({ description: 'Stable; made for programs.' }),
  details: z
    .array(z.object({ path: z.string().meta({ description: 'The field, as it was sent.' }), message: z.string() }))
    .optional(),
  requestId: z
    .string()
    .optional()
    .meta({ description: 'With 5xx only: names the request to whoever runs the service.' }),
});

export const plainError = z.object({ message, error }).meta({ id: 'Error' });
export const tasksError = z.object({ success: z.literal(false), message, error }).meta({ id: 'TasksError' });
