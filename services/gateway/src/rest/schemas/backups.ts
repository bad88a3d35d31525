import { undoableRestore } from '@taskmesh/internal-api';
import { z } from 'zod';
import { dataSchema, flag, listSchema, message, named, success, text, time, integer } from './parts.ts';

const backup = named(
  'Backup',
  z.object({
    file: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable().meta({ description: 'Of the whole file; null if it was placed there by hand.' }),
    createdAt: time,
    origin: z.enum(['request', 'schedule', 'safety', 'upload', 'unknown']).meta({
      description:
        'Why it was made: `safety` means right before a restore; `unknown` archives were placed there by hand.',
    }),
    stores: z.array(z.string()).meta({ description: 'The databases that it has a dump of, as far as known.' }),
    verifiedAt: time.nullable().meta({ description: 'When a test restore of it last succeeded.' }),
    verifiedVersion: z
      .string()
      .nullable()
      .meta({ description: 'The version of Taskmesh that made that test restore.' }),
    unfitAt: time.nullable().meta({
      description: 'When a test restore or an inspection last showed that it cannot be restored.',
    }),
    unfitReason: z.string().nullable().meta({ description: 'Why it cannot be restored, as part of a sentence.' }),
  }),
);

export const backupResponse = dataSchema('BackupAnswer', backup);

export const backupList = listSchema('BackupList', backup);

const scan = z.object({
  archives: integer('Archives found.'),
  added: integer('Archives that are new to the list.'),
  unread: integer('Archives whose manifest could not be read here.'),
});

export const backupScan = dataSchema('BackupScanAnswer', scan);

const skipped = z
  .array(z.object({ kind: z.string(), count: z.int() }))
  .optional()
  .meta({
    description:
      'What the dumps contain besides rows and was skipped; absent if nothing was. In the ordinary response only if `allowLoss` or `safetyBackup` was requested.',
  });

const dropped = z.array(z.string()).optional().meta({
  description:
    'Tables and columns that do not exist here and were left out, as `store.table` or `store.table.column`; absent under the same conditions as `skipped`.',
});

const safetyBackup = z.string().optional().meta({
  description: 'The archive made right before the restore, if any; absent under the same conditions as `skipped`.',
});

export const restoreResponse = named('RestoreAnswer', z.object({ success, message, skipped, dropped, safetyBackup }));

const change = z.object({ now: integer('The number now.'), after: integer('The number after the restore.') });

const forecast = z.object({
  possible: flag('Whether nothing known prevents the databases from being replaced now.'),
  obstacles: z.array(z.string()).meta({ description: 'What prevents it, as `store: reason`.' }),
  stores: z.array(
    z.object({
      store: z.string(),
      rows: z.array(
        change.extend({
          name: text('The name of a table.'),
          gone: integer('Rows that would be removed; absent if the rows have no ids.').optional(),
          back: integer('Rows that would be added; absent if the rows have no ids.').optional(),
        }),
      ),
    }),
  ),
  accounts: change
    .extend({
      gone: integer('Accounts that would be removed.'),
      back: integer('Accounts that would be added.'),
      sessionsEnding: integer('Sessions of the accounts that would be removed.'),
    })
    .nullable()
    .meta({ description: 'Null if the restore would not replace accounts.' }),
  skipped: z.array(z.object({ kind: z.string(), count: z.int() })),
  dropped: z.array(z.string()),
  tookMs: z.int(),
});

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
