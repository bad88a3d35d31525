import { badUserInput, notFound } from '@taskmesh/contracts';
import {
  refuseUnknownParameters,
  RESTORE_PARAMETERS,
  type RestoreParameters,
  restoreParametersOf,
  readRestoredAt,
  UNDO_PARAMETERS,
} from '@taskmesh/internal-api';
import { z } from 'zod';
import { readParameters } from '../../http/query-parameters.ts';
import { checkedQuery, type QueryRules } from '../endpoint.ts';
import { wholeNumber } from '../schemas/requests.ts';

export interface RestoreQuery {
  file: string;
  parameters: RestoreParameters;
}

const tried = z.object({
  file: z.string().meta({ minLength: 1, description: 'The name of the archive.' }),
  allowLoss: z.boolean().optional().meta({
    default: false,
    description:
      'Whether an archive made by Taskmesh that has tables or columns that do not exist here is restored, without them.',
  }),
  stores: z
    .string()
    .optional()
    .meta({
      description: 'Replaces only these databases (comma-separated). Default: all that are in the archive.',
      pattern: '^(?:tasks|auth)(?:,(?:tasks|auth))*$',
      examples: ['tasks', 'auth', 'tasks,auth'],
    }),
});

const restored = tried.extend({
  safetyBackup: z.boolean().optional().meta({
    description:
      'Whether an archive of all databases is made right before they are replaced; if that fails, nothing is replaced. Default: only if replaced databases are not kept for an undo (`RESTORE_KEEP_OLD=0`).',
  }),
  decryptedFrom: z.string().max(255).optional().meta({
    pattern: '^[^./\\\\][^/\\\\]*\\.tar\\.gz(?:\\.age)?$',
    description:
      'The original name of an archive that was decrypted elsewhere and uploaded as `file`; the restore is recorded under it.',
  }),
});

export const restoreQuery: QueryRules<RestoreQuery> = {
  schema: restored,
  read: ({ url, query }) => ({ file: readFileParameter(url), parameters: restoreParametersOf(query) }),
};

/** A foreign graph accepts only the file, so options that change more than the response are refused. */
export const foreignRestoreQuery: QueryRules<RestoreQuery> = {
  schema: tried.pick({ file: true }),
  read(request) {
    const wanted = restoreQuery.read(request);
    const { stores, safetyBackup, decryptedFrom } = wanted.parameters;
    if ([stores, safetyBackup, decryptedFrom].some((each) => each !== undefined))
      throw badUserInput([], 'Stores, a safety backup and another name cannot be chosen here.');
    return wanted;
  },
};

export const dryRunQuery: QueryRules<RestoreQuery> = {
  schema: tried,
  read(request) {
    const wanted = restoreQuery.read(request);
    refuseUnknownParameters(request.query, RESTORE_PARAMETERS);
    return wanted;
  },
};

export const undoQuery: QueryRules<string | undefined> = {
  schema: z.object({
    restoredAt: z.string().optional().meta({
      format: 'date-time',
      description:
        'The restore to undo, as returned by `GET`; if the last restore is another one, nothing is changed. Default: the last one.',
    }),
  }),
  read({ query }) {
    refuseUnknownParameters(query, UNDO_PARAMETERS);
    return readRestoredAt(query);
  },
};

const epoch = z.object({
  atLeast: wholeNumber('atLeast', { min: 1, max: 2_000_000_000 }).meta({
    description: 'The lowest acceptable epoch. Default: derived from the clock.',
  }),
});
const checkedEpoch = checkedQuery(epoch);

export const epochQuery: QueryRules<number | undefined> = {
  schema: epoch,
  read(request) {
    refuseUnknownParameters(request.query, Object.keys(epoch.shape));
    return checkedEpoch.read(request).atLeast;
  },
};

export const unknownFile = () => notFound('There is no such backup file.');

const FILE = new Set(['file']);

/** @throws AppError BAD_USER_INPUT when it is missing, empty or repeated, or not valid UTF-8 */
function readFileParameter(url: string): string {
  const { file = '' } = readParameters(url, FILE);
  if (file === '') throw badUserInput([], 'The query parameter file is missing.');
  return file;
}
