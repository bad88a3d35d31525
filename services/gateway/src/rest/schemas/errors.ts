import { z } from 'zod';
import type { Envelope } from '../../http/errors.ts';

const message = z.string().meta({ description: 'For people to read.' });

const error = z.object({
  code: z.string().meta({ description: 'Stable, for programs.' }),
  details: z
    .array(z.object({ path: z.string().meta({ description: 'The field, as sent.' }), message: z.string() }))
    .optional(),
  requestId: z
    .string()
    .optional()
    .meta({ description: 'Only with 5xx: identifies the request for whoever runs the service.' }),
});

const success = z.literal(false);

export const ERROR_SCHEMAS: Record<Envelope, z.ZodType> = {
  plain: z.object({ message, error }).meta({ id: 'Error' }),
  tasks: z.object({ success, message, error }).meta({ id: 'TasksError' }),
  operations: z.object({ success, message, error }).meta({ id: 'OperationsError' }),
  // The interface document's own form.
  backup: z
    .object({ success, message, error: z.string().meta({ description: 'What went wrong.' }) })
    .meta({ id: 'BackupError' }),
};
