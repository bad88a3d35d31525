import type { BackupEntry } from '@taskmesh/internal-api';
import { z } from 'zod';

const message = z.string().meta({ description: 'A sentence for people.' });
const time = z.string().meta({ format: 'date-time', description: 'UTC, with milliseconds and Z.' });
const success = z.literal(true);

const EXAMPLE: BackupEntry = {
  file: 'taskmesh-20261120T100000Z-5f1e2d3c4b5a.tar.gz',
  sizeBytes: 1_048_576,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  createdAt: '2026-11-20T10:00:00.000Z',
  stores: ['tasks', 'auth'],
  verifiedAt: null,
  verifiedVersion: null,
};

const backup = z
  .object({
    file: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable().meta({ description: 'Of the whole file; null when it was put there by hand.' }),
    createdAt: time,
    stores: z.array(z.string()).meta({ description: 'The stores that it holds a dump of, as far as is known.' }),
    verifiedAt: time.nullable().meta({ description: 'When a test restore of it last succeeded.' }),
    verifiedVersion: z.string().nullable().meta({ description: 'The version of Taskmesh that proved it.' }),
  })
  .meta({ id: 'Backup', examples: [EXAMPLE] });

export const oneBackup = z
  .object({ success, message, data: backup })
  .meta({ id: 'BackupAnswer', examples: [{ success: true, message: 'Backup made.', data: EXAMPLE }] });

export const backupList = z
  .object({ success, message, count: z.int(), data: z.array(backup) })
  .meta({ id: 'BackupList', examples: [{ success: true, message: '1 backup found.', count: 1, data: [EXAMPLE] }] });

const scan = z.object({
  archives: z.int().meta({ description: 'That are there.' }),
  added: z.int().meta({ description: 'That the list knew little of, and now does.' }),
  unread: z.int().meta({ description: 'Without a manifest that can be read here.' }),
});

export const backupScan = z.object({ success, message, data: scan }).meta({
  id: 'BackupScanAnswer',
  examples: [
    {
      success: true,
      message: 'Archives: 3; new to the list: 2.',
      data: { archives: 3, added: 2, unread: 0 },
    },
  ],
});

export const backupMessage = z
  .object({ success, message })
  .meta({ id: 'BackupMessage', examples: [{ success: true, message: 'Backup deleted.' }] });

const skipped = z
  .array(z.object({ kind: z.string(), count: z.int() }))
  .optional()
  .meta({
    description:
      'What the dumps hold beside rows and was passed over; absent when there is nothing, and on the answer in one piece unless `allowLoss` was sent.',
  });

const dropped = z
  .array(z.string())
  .optional()
  .meta({
    description:
      'What the stores had no place for and was left out: `store.table` or `store.table.column`; absent as `skipped` is.',
  });

export const restoreAnswer = z.object({ success, message, skipped, dropped }).meta({
  id: 'RestoreAnswer',
  examples: [{ success: true, message: 'Database restored; the application may need a restart.' }],
});

/** The interface document's own form. */
export const backupError = z
  .object({ success: z.literal(false), message, error: z.string().meta({ description: 'What went wrong.' }) })
  .meta({ id: 'BackupError' });

const count = () => z.int().optional();

/** One line of an answer to `Accept: application/x-ndjson`. */
export const workLine = z
  .object({
    progress: z
      .object({
        phase: z.string(),
        store: z.string().optional(),
        doneBytes: count(),
        totalBytes: count(),
        rows: count(),
      })
      .optional()
      .meta({ description: 'On every line but the last.' }),
    status: z.int().optional().meta({ description: 'On the last line, with the fields of the ordinary answer.' }),
    success: z.boolean().optional(),
    message: message.optional(),
    error: z.string().optional(),
    data: z.union([backup, scan]).optional(),
    skipped,
    dropped,
    databaseRestored: z.boolean().optional().meta({ description: 'On the last line of a restore, or of an undo.' }),
  })
  .meta({
    id: 'BackupWorkLine',
    examples: [{ progress: { phase: 'dump', store: 'tasks', doneBytes: 262_144 } }],
  });
