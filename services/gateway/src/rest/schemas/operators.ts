import type { DeadLetter } from '@taskmesh/internal-api';
import { stringField } from '@taskmesh/contracts';
import { z } from 'zod';
import { undoable } from './backups.ts';
import { answered, flag, listed, message, named, success, text, time, whole } from './parts.ts';
import { wholeNumber } from './requests.ts';

export const operatorsMessage = named('OperationsMessage', z.object({ success, message }), {
  success: true,
  message: 'You are an operator.',
});

export const operatorsCode = named(
  'OperatorsCode',
  z.object({ code: stringField('code').max(1_024, 'code is too long.') }),
  { code: 'zXw2vQ5yJq0k4m8r1t7n3b6c9d2f5h8j0l3p6s9u2x4.1795514400000' },
);

export const operatorsToken = answered(
  'OperatorsToken',
  z.object({ token: text('To be sent as `Authorization: Bearer <token>` from now on.') }),
  'You are an operator.',
  { token: 'mQ3x9v1c7b5n2m8k4j6h0g2f5d7s9a1p3o6i8u0y2t4' },
);

const archive = z.object({
  file: z.string(),
  createdAt: time,
  sizeBytes: z.int(),
  verifiedAt: time.nullable().meta({ description: 'When a test restore of it last succeeded.' }),
});

const schedule = z
  .object({
    pattern: text('A cron pattern, in UTC.'),
    nextAt: time.nullable(),
    failingSince: time.nullable().meta({ description: 'Null unless its last run failed.' }),
  })
  .nullable();

const status = z.object({
  at: time,
  problems: z.array(z.string()).meta({ description: 'What is wrong, for operators to read; empty if all is well.' }),
  services: z
    .array(
      z.object({
        name: z.enum(['gateway', 'auth', 'tasks', 'backup']),
        isUp: flag('Whether it responds; if not, the other fields are null.'),
        version: z.string().nullable(),
        startedAt: time.nullable(),
        store: z
          .object({
            isUp: flag('Whether the database responds.'),
            schema: z.string().nullable().meta({ description: 'The latest migration.' }),
            missing: z.array(z.string()).meta({ description: 'Migrations that have not run yet.' }),
            unknown: z.array(z.string()).meta({ description: 'Migrations of a newer version.' }),
          })
          .nullable()
          .meta({ description: 'Its database; the gateway has none.' }),
      }),
    )
    .meta({ description: 'For each service, the process that was reached.' }),
  feed: z
    .object({
      epoch: whole('Increases with each restore.'),
      pending: whole('Changes that are committed but not yet published.'),
      oldestPendingAgeSeconds: z.number().meta({ description: 'The age of the oldest pending change.' }),
      deadLetters: z.object({ relay: z.int(), gateway: z.int() }),
    })
    .nullable()
    .meta({ description: 'How far the event log is behind the database of the tasks.' }),
  eventLog: z.object({
    system: z.enum(['kafka', 'memory']),
    isUpForTasks: z.boolean().nullable().meta({ description: 'Whether the tasks service can publish to it.' }),
    isUpForGateway: flag('Whether this gateway can read it.'),
  }),
  cache: z
    .object({ system: z.enum(['redis', 'memory']), isUp: z.boolean() })
    .meta({ description: 'Redis, shared by all gateways, or the memory of this one.' }),
  realtime: z
    .object({
      connections: z.record(z.string(), z.int()).meta({ description: 'Open sockets and HTTP streams, by protocol.' }),
      subscriptions: z.int(),
      owners: whole('The number of users whose changes are being read.'),
      queueBytes: whole('Bytes that wait for clients to read them.'),
    })
    .meta({ description: 'Readers of the feed at this gateway.' }),
  backups: z
    .object({
      place: z.enum(['directory', 'bucket']),
      isEncrypted: flag('Whether new archives are encrypted.'),
      archives: z
        .object({
          count: z.int(),
          totalBytes: z.int(),
          newest: archive.nullable().meta({ description: 'Made here, and not known to be unusable.' }),
          newestProved: archive.nullable().meta({ description: 'Made here, and verified by a test restore.' }),
        })
        .nullable()
        .meta({ description: 'Null while the backup storage, or the database that lists them, does not respond.' }),
      schedule: schedule.meta({ description: 'When archives are made (`BACKUP_SCHEDULE`); null: on request only.' }),
      verifySchedule: schedule.meta({
        description: 'When they are verified again (`BACKUP_VERIFY_SCHEDULE`); null: on request only.',
      }),
      verifiesScheduled: flag('Whether each scheduled archive is verified right away.'),
      keep: z
        .record(z.string(), z.int())
        .nullable()
        .meta({ description: 'How many scheduled archives are kept (`BACKUP_KEEP`); null: all.' }),
      undoableMs: whole('How long a restore can be undone (`RESTORE_KEEP_OLD`).'),
      undoable: undoable.nullable().optional().meta({
        description:
          'The restore that an undo would take back; null if nothing is kept. Missing while the database of the backups does not respond.',
      }),
    })
    .nullable(),
});

/** The platform as this gateway sees it. What is not known, because who knows it is away, is null. */
export type PlatformStatus = z.output<typeof status>;

const EXAMPLE_STORE = { isUp: true, schema: '0003-times-end', missing: [], unknown: [] };
const EXAMPLE_ARCHIVE = {
  ...{ file: 'taskmesh-20261120T033000Z-5f1e2d3c4b5a.tar.gz', createdAt: '2026-11-20T03:30:00.000Z' },
  ...{ sizeBytes: 1_048_576, verifiedAt: '2026-11-20T03:30:41.000Z' },
};
const EXAMPLE: PlatformStatus = {
  at: '2026-11-20T10:00:00.000Z',
  problems: [],
  services: [
    ...[{ name: 'gateway', store: null } as const],
    ...(['auth', 'tasks', 'backup'] as const).map((name) => ({ name, store: EXAMPLE_STORE })),
  ].map((service) => ({ ...service, isUp: true, version: '0.2.0', startedAt: '2026-11-19T10:00:00.000Z' })),
  feed: { epoch: 1, pending: 0, oldestPendingAgeSeconds: 0, deadLetters: { relay: 0, gateway: 0 } },
  eventLog: { system: 'kafka', isUpForTasks: true, isUpForGateway: true },
  cache: { system: 'redis', isUp: true },
  realtime: {
    connections: { 'graphql-ws': 12, sse: 3, multipart: 0, channel: 7 },
    ...{ subscriptions: 25, owners: 18, queueBytes: 0 },
  },
  backups: {
    place: 'directory',
    isEncrypted: false,
    archives: { count: 1, totalBytes: 1_048_576, newest: EXAMPLE_ARCHIVE, newestProved: EXAMPLE_ARCHIVE },
    schedule: { pattern: '30 3 * * *', nextAt: '2026-11-21T03:30:00.000Z', failingSince: null },
    verifySchedule: null,
    verifiesScheduled: true,
    keep: { last: 3, daily: 7 },
    undoableMs: 86_400_000,
    undoable: null,
  },
};

export const platformStatus = answered('PlatformStatus', status, 'All is well.', EXAMPLE);

const EXAMPLE_LETTER: DeadLetter = {
  id: '17',
  source: 'relay',
  changeId: '4711',
  ownerId: '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f',
  sequence: '12',
  reason: 'The request included a message larger than the max message size the server will accept.',
  record: null,
  diedAt: '2026-11-20T10:00:00.000Z',
  canReplay: true,
};

const deadLetter = z.object({
  id: z.string(),
  source: z.enum(['relay', 'gateway']).meta({
    description: '`relay`: a change that the event log refused; `gateway`: a record that gateways could not read.',
  }),
  changeId: z.string().nullable().meta({ description: 'The change in the change log, if known.' }),
  ownerId: z.string().nullable(),
  sequence: z.string().nullable().meta({ description: 'The number of the change among those of its owner.' }),
  reason: z.string(),
  record: z.string().nullable().meta({ description: 'What a gateway read, up to 64 KiB; it may contain user data.' }),
  diedAt: time,
  canReplay: flag('Whether the change is still in the change log.'),
});

export const PAGE = { usual: 50, most: 100 };

export const deadLettersQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'after must be the id of a dead letter.')
    .optional()
    .meta({ description: 'The id of the last dead letter already read.' }),
  limit: wholeNumber('limit', { min: 1, max: PAGE.most, byDefault: PAGE.usual }),
});

export const deadLetterList = listed('DeadLetterList', deadLetter, '1 dead letter found.', EXAMPLE_LETTER);

/** tasks checks it again, and that it is either of them. */
export const deadLetterChoice = z
  .strictObject({
    ids: z
      .array(z.string().max(18).meta({ pattern: '^\\d{1,18}$' }))
      .max(9_000) // A body may have 10,000 keys and values.
      .optional()
      .meta({ description: 'The ids of the dead letters.' }),
    all: z.literal(true).optional().meta({ description: 'All dead letters; must be true.' }),
  })
  .meta({
    id: 'DeadLetterChoice',
    description: 'Either `ids` or `all`.',
    propertyNames: { enum: ['ids', 'all'] },
    minProperties: 1,
    maxProperties: 1,
    examples: [{ ids: ['17', '18'] }],
  });

export const replayedDeadLetters = named('DeadLettersReplayed', z.object({ success, message, replayed: z.int() }), {
  success: true,
  message: 'Published again: 2.',
  replayed: 2,
});

export const discardedDeadLetters = named('DeadLettersDiscarded', z.object({ success, message, discarded: z.int() }), {
  success: true,
  message: 'Discarded: 2.',
  discarded: 2,
});
