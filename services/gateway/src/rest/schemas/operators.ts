import { stringField } from '@taskmesh/contracts';
import { backupsStatus, deadLetter, feedStatus, storeStatus } from '@taskmesh/internal-api';
import { z } from 'zod';
import { dataSchema, bodyOf, flag, listSchema, message, named, success, text, time, integer } from './parts.ts';
import { wholeNumber } from './requests.ts';

export const operatorsCode = bodyOf(
  'OperatorsCode',
  z.object({ code: stringField('code').max(1_024, 'code is too long.') }),
  { code: 'zXw2vQ5yJq0k4m8r1t7n3b6c9d2f5h8j0l3p6s9u2x4.1795514400000' },
);

export const operatorsToken = dataSchema(
  'OperatorsToken',
  z.object({ token: text('To be sent as `Authorization: Bearer <token>` from now on.') }),
);

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
        store: storeStatus.nullable().meta({ description: 'Its database; the gateway has none.' }),
      }),
    )
    .meta({ description: 'For each service, the process that was reached.' }),
  feed: feedStatus.nullable().meta({ description: 'How far the event log is behind the database of the tasks.' }),
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
      owners: integer('The number of users whose changes are being read.'),
      queueBytes: integer('Bytes that wait for clients to read them.'),
    })
    .meta({ description: 'Readers of the feed at this gateway.' }),
  backups: backupsStatus.nullable(),
});

/** The platform as this gateway sees it. Values whose source is unavailable are null. */
export type PlatformStatus = z.output<typeof status>;

export const platformStatus = dataSchema('PlatformStatus', status);

export const PAGE = { usual: 50, most: 100 };

export const deadLettersQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,18}$/, 'after must be the id of a dead letter.')
    .optional()
    .meta({ description: 'The id of the last dead letter already read.' }),
  limit: wholeNumber('limit', { min: 1, max: PAGE.most, byDefault: PAGE.usual }),
});

export const deadLetterList = listSchema('DeadLetterList', deadLetter);

/** The tasks service validates it again, including that it has exactly one of the fields. */
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

export const replayedDeadLetters = named('DeadLettersReplayed', z.object({ success, message, replayed: z.int() }));

export const discardedDeadLetters = named('DeadLettersDiscarded', z.object({ success, message, discarded: z.int() }));
