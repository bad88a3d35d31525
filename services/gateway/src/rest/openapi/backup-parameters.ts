import type { Parameter } from './types.ts';

export const FILE: Parameter = {
  name: 'file',
  in: 'path',
  required: true,
  description: 'The name of an archive, as the list shows it.',
  schema: { type: 'string', maxLength: 255 },
};

export const RESTORE_PARAMETERS: Parameter[] = [
  { name: 'file', in: 'query', required: true, description: 'The archive.', schema: { type: 'string' } },
  {
    name: 'allowLoss',
    in: 'query',
    required: false,
    description:
      'An archive that was made here, with tables or columns that the stores have no place for, is restored only with `true`, and without them.',
    schema: { type: 'boolean', default: false },
  },
  {
    name: 'stores',
    in: 'query',
    required: false,
    description: 'Only these stores are replaced, with commas between them. Absent: all that the archive holds.',
    schema: { type: 'string', examples: ['tasks', 'auth', 'tasks,auth'] },
  },
];

export const SAFETY_BACKUP: Parameter = {
  name: 'safetyBackup',
  in: 'query',
  required: false,
  description:
    'Whether an archive of all stores is made right before they are replaced; without one, nothing is. Absent: where replaced stores are not kept for an undo (`RESTORE_KEEP_OLD=0`).',
  schema: { type: 'boolean' },
};

export const DECRYPTED_FROM: Parameter = {
  name: 'decryptedFrom',
  in: 'query',
  required: false,
  description:
    'The name of the archive that somebody has decrypted elsewhere and brought as `file`: what is told of the restore names that.',
  schema: { type: 'string', maxLength: 255 },
};

export const AT_LEAST: Parameter = {
  name: 'atLeast',
  in: 'query',
  required: false,
  description: 'What the epoch must be at the least. Absent: the clock says.',
  schema: { type: 'integer', minimum: 1, maximum: 2_000_000_000 },
};

export const RESTORED_AT: Parameter = {
  name: 'restoredAt',
  in: 'query',
  required: false,
  description:
    'The restore that is to be taken back, as the question before has shown it: another one is left alone. Absent: the last one.',
  schema: { type: 'string', format: 'date-time' },
};
