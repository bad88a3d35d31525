import { backupEntry, backupScan as scan, restoreForecast as forecast, undoableRestore } from '@taskmesh/internal-api';
import { z } from 'zod';
import { dataSchema, integer, listSchema, message, named, success, time } from './parts.ts';

const backup = named('Backup', backupEntry);

export const backupResponse = dataSchema('BackupAnswer', backup);

export const backupList = listSchema('BackupList', backup);

export const backupScan = dataSchema('BackupScanAnswer', scan);

const skipped = z
  .array(z.object({ kind: z.string(), count: z.int() }))
  .optional()
  .meta({
    description:
      'What dumps that were made elsewhere contain besides rows and was skipped; absent if nothing was. In the ordinary response only if `allowLoss` or `safetyBackup` was requested.',
  });

const dropped = z.array(z.string()).optional().meta({
  description:
    'Tables and columns that do not exist here and were left out, as `store.table` or `store.table.column`; absent under the same conditions as `skipped`.',
});

const safetyBackup = z.string().optional().meta({
  description: 'The archive made right before the restore, if any; absent under the same conditions as `skipped`.',
});

export const restoreResponse = named('RestoreAnswer', z.object({ success, message, skipped, dropped, safetyBackup }));

export const restoreForecast = dataSchema('RestoreForecast', forecast);

export const undoableRestoreResponse = dataSchema('UndoableRestoreAnswer', undoableRestore);

export const newEpoch = dataSchema(
  'NewEpochAnswer',
  z.object({ epoch: integer('The epoch of all events from now on.') }),
);

const count = () => z.int().optional();

/** One line of a response to `Accept: application/x-ndjson`. */
export const workLine = named(
  'BackupWorkLine',
  z.object({
    progress: z
      .object({ phase: z.string(), store: z.string().optional(), doneBytes: count(), totalBytes: count() })
      .optional()
      .meta({ description: 'On every line except the last.' }),
    status: z.int().optional().meta({ description: 'On the last line, with the fields of the ordinary response.' }),
    success: z.boolean().optional(),
    message: message.optional(),
    error: z.string().optional(),
    data: z.union([backup, scan, forecast]).optional(),
    skipped,
    dropped,
    safetyBackup,
    keptUntil: time.nullish().meta({ description: 'Until when an undo is possible; null if nothing is kept.' }),
    databaseRestored: z.boolean().optional().meta({ description: 'On the last line of a restore or an undo.' }),
  }),
);
