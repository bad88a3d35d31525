import { HTTP_STATUS } from '@taskmesh/errors';
import type { z } from 'zod';
import { LINES_TYPE } from '../backup/answers.ts';
import { BACKUPS_PATH, SCAN_PATH } from '../backup/archives.ts';
import { DRY_RUN_PATH } from '../backup/dry-run.ts';
import { NEW_EPOCH_PATH } from '../backup/new-epoch.ts';
import { RESTORE_PATH, UNDO_PATH } from '../backup/restore.ts';
import {
  backupError,
  backupList,
  backupMessage,
  backupScan,
  newEpoch,
  oneBackup,
  restoreAnswer,
  restoreForecast,
  undoableRestore,
  workLine,
} from '../schemas/backups.ts';
import { AT_LEAST, DECRYPTED_FROM, FILE, RESTORE_PARAMETERS, RESTORED_AT, SAFETY_BACKUP } from './backup-parameters.ts';
import type { ApiPart } from './document.ts';
import { headersOf } from './error-responses.ts';
import { mediaOf } from './media.ts';
import type { Operation, Parameter, Response } from './types.ts';

const TAG = 'Backups';

const FAILURES = {
  BAD_USER_INPUT: ['BackupInvalid', 'The name, the content or the query is not as it must be.', 'The query parameter file is missing.'],
  UNAUTHENTICATED: ['BackupUnauthenticated', 'There is a backup token, and it did not come along.', 'The backup token is missing or wrong.'],
  FORBIDDEN: ['BackupForbidden', 'There is no backup token, and the caller is not on this machine; for a restore also: the name leads out of the place of the archives.', 'Backups are for callers on this machine only.'],
  NOT_FOUND: ['BackupNotFound', 'There is no such archive.', 'There is no such backup file.'],
  CONFLICT: ['BackupConflict', 'There is another archive of that name, the archive or a store is not fit for this, another restore is running, or the one to take back is another one than was named.', 'There is another archive of that name.'],
  PAYLOAD_TOO_LARGE: ['BackupTooLarge', 'The archive is larger than a restore takes.', 'An archive may have 256 MiB at the most.'],
  INTERNAL_SERVER_ERROR: ['BackupFailed', 'A defect on our side; for a restore also: the archive cannot be extracted.', 'Internal server error.'],
  SERVICE_UNAVAILABLE: ['BackupUnavailable', 'A store, the place of the archives or the service is away; `Retry-After` says how long to wait.', 'The service is not available right now; try again.'],
} as const; // prettier-ignore

type Failure = keyof typeof FAILURES;

const ALWAYS: Failure[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'];

const LONG = `With \`Accept: ${LINES_TYPE}\` the answer is a 200 whose lines tell the progress; the last one has the ordinary answer and its \`status\`.`;
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const ARCHIVE_SCHEMA = { type: 'string', description: 'The archive as it is stored.' };

interface Described {
  name: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  status: 200 | 201;
  answer: z.ZodType | 'archive';
  /** What the example says, where the answer's own says something else. */
  exampleMessage?: string;
  isLong?: boolean;
  takesArchive?: boolean;
  errors?: Failure[];
}

function operationOf({ name, summary, description = '', parameters, status, answer, ...rest }: Described): Operation {
  const { isLong = false, takesArchive = false, errors = [], exampleMessage } = rest;
  const text = [description, isLong && LONG].filter(Boolean).join(' ');
  const ways = {
    ...(answer === 'archive' ? archiveMedia() : { 'application/json': mediaOf(answer, exampleMessage) }),
    ...(isLong && status === 200 && { [LINES_TYPE]: mediaOf(workLine) }),
  };
  const etag = answer === 'archive' && { ETag: { $ref: '#/components/headers/ArchiveETag' } };
  const lines: Response = {
    description: 'The progress, line by line.',
    headers: REQUEST_ID,
    content: { [LINES_TYPE]: mediaOf(workLine) },
  };
  const failures = [...new Set([...ALWAYS, ...errors])].toSorted((one, other) => HTTP_STATUS[one] - HTTP_STATUS[other]);
  return {
    operationId: name,
    tags: [TAG],
    summary,
    ...(text && { description: text }),
    // Without a backup token the place of the caller decides.
    security: [{ backupToken: [] }, {}],
    ...(parameters && { parameters }),
    ...(takesArchive && { requestBody: { required: true, content: archiveMedia() } }),
    responses: {
      ...(isLong && status === 201 && { 200: lines }),
      [status]: {
        description: status === 201 ? 'Created.' : 'Done.',
        headers: { ...REQUEST_ID, ...etag },
        content: ways,
      },
      ...Object.fromEntries(
        failures.map((failure) => [HTTP_STATUS[failure], { $ref: `#/components/responses/${FAILURES[failure][0]}` }]),
      ),
    },
  };
}

const archiveMedia = () => ({
  'application/gzip': { schema: ARCHIVE_SCHEMA },
  'application/octet-stream': { schema: ARCHIVE_SCHEMA },
});

/** The endpoints of operators in the API description. */
export function describeBackups(): ApiPart {
  return {
    tag: {
      name: TAG,
      description:
        'For operators: with `BACKUP_TOKEN` set, who sends it as `Authorization: Bearer <token>`; without it, callers on the same machine. Also as a command line: `npm run backup`.',
    },
    paths: {
      [BACKUPS_PATH]: {
        get: operationOf({
          name: 'listBackups',
          summary: 'List the backups',
          description: 'Newest first.',
          status: 200,
          answer: backupList,
        }),
        post: operationOf({
          name: 'createBackup',
          summary: 'Make a backup',
          description: 'An archive of all stores, each as it is at one moment, while they go on working.',
          status: 201,
          answer: oneBackup,
          isLong: true,
          errors: ['CONFLICT'],
        }),
      },
      [SCAN_PATH]: {
        post: operationOf({
          name: 'scanBackups',
          summary: 'Bring the list up to date',
          description:
            'Reads the manifests of archives that lie in the directory or the bucket and of which the list knows no more than name, size and date: after the loss of the database that kept it.',
          status: 200,
          answer: backupScan,
          isLong: true,
        }),
      },
      [`${BACKUPS_PATH}/{file}`]: {
        get: operationOf({
          name: 'downloadBackup',
          summary: 'Download an archive',
          parameters: [FILE],
          status: 200,
          answer: 'archive',
          errors: ['NOT_FOUND'],
        }),
        put: operationOf({
          name: 'uploadBackup',
          summary: 'Upload an archive',
          description: 'It is listed when it is whole. The same archive under the same name again changes nothing.',
          parameters: [FILE],
          status: 201,
          answer: oneBackup,
          exampleMessage: 'Archive stored.',
          takesArchive: true,
          errors: ['BAD_USER_INPUT', 'CONFLICT', 'PAYLOAD_TOO_LARGE'],
        }),
        delete: operationOf({
          name: 'deleteBackup',
          summary: 'Delete an archive',
          parameters: [FILE],
          status: 200,
          answer: backupMessage,
          errors: ['NOT_FOUND'],
        }),
      },
      [`${BACKUPS_PATH}/{file}/verify`]: {
        post: operationOf({
          name: 'verifyBackup',
          summary: 'Prove that an archive can be restored',
          description: 'Restores it into databases of its own, which are dropped again: the stores are not touched.',
          parameters: [FILE],
          status: 200,
          answer: oneBackup,
          exampleMessage: 'The archive can be restored: a test restore of all its stores succeeded.',
          isLong: true,
          errors: ['NOT_FOUND', 'CONFLICT'],
        }),
      },
      [RESTORE_PATH]: {
        post: operationOf({
          name: 'restoreBackup',
          summary: 'Restore from an archive',
          description:
            'Replaces the stores by what the archive holds, in one step. When the database step fails, the answer is a 200 all the same, the message says so, and the data are as they were.',
          parameters: [...RESTORE_PARAMETERS, SAFETY_BACKUP, DECRYPTED_FROM],
          status: 200,
          answer: restoreAnswer,
          isLong: true,
          errors: ['BAD_USER_INPUT', 'NOT_FOUND', 'CONFLICT'],
        }),
      },
      [DRY_RUN_PATH]: {
        post: operationOf({
          name: 'dryRunRestore',
          summary: 'Try a restore',
          description:
            'Goes the whole way of a restore but its last step: the data stay as they are. Tells what would change, and what would be in the way now. 409 with the reason when the archive is not fit for such a restore.',
          parameters: RESTORE_PARAMETERS,
          status: 200,
          answer: restoreForecast,
          isLong: true,
          errors: ['BAD_USER_INPUT', 'NOT_FOUND', 'CONFLICT'],
        }),
      },
      [NEW_EPOCH_PATH]: {
        post: operationOf({
          name: 'beginNewEpoch',
          summary: 'Let clients begin anew',
          description:
            'For who has put the database of the tasks back to an earlier state by other means (a physical restore): ends all feeds and makes all cursors from before worthless, so that clients read their lists anew. 409 when the clock is evidently behind and `atLeast` is not given.',
          parameters: [AT_LEAST],
          status: 200,
          answer: newEpoch,
          errors: ['BAD_USER_INPUT', 'CONFLICT'],
        }),
      },
      [UNDO_PATH]: {
        get: operationOf({
          name: 'findUndoableRestore',
          summary: 'Tell which restore can be taken back',
          description: '404 when nothing is kept.',
          status: 200,
          answer: undoableRestore,
          errors: ['NOT_FOUND'],
        }),
        post: operationOf({
          name: 'undoRestore',
          summary: 'Take the last restore back',
          description:
            'Brings the stores back that the last restore replaced, while they are kept (`RESTORE_KEEP_OLD`), in one step. What was written since is kept in its turn: a second call brings it back. 404 when nothing is kept, 409 when it is another restore than that of `restoredAt`.',
          parameters: [RESTORED_AT],
          status: 200,
          answer: backupMessage,
          exampleMessage:
            'Taken back: the restore of taskmesh-20261120T100000Z-5f1e2d3c4b5a.tar.gz from 2026-11-21T09:00:00.000Z. What it replaced is kept until 2026-11-22T09:00:00.000Z: another undo brings it back.',
          isLong: true,
          errors: ['BAD_USER_INPUT', 'NOT_FOUND', 'CONFLICT'],
        }),
      },
    },
    schemas: [
      oneBackup,
      backupList,
      backupScan,
      backupMessage,
      restoreAnswer,
      restoreForecast,
      undoableRestore,
      newEpoch,
      backupError,
      workLine,
    ],
    responses: Object.fromEntries(
      Object.entries(FAILURES).map(([code, [name, description, message]]) => [
        name,
        {
          description,
          headers: headersOf(HTTP_STATUS[code as Failure]), // the keys of the table
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/BackupError' },
              example: { success: false, message, error: message },
            },
          },
        },
      ]),
    ),
    headers: { ArchiveETag: { description: 'The SHA-256 of the archive.', schema: { type: 'string' } } },
    securitySchemes: { backupToken: { type: 'http', scheme: 'bearer', description: 'The value of `BACKUP_TOKEN`.' } },
  };
}
