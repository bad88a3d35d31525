import { z } from 'zod';
import { SHORT_CALL_MS, STATUS_MS, type InternalApi } from './calls.ts';

export const timeSchema = z.string().meta({ format: 'date-time', description: 'In UTC, with milliseconds and Z.' });

export const storeStatus = z.object({
  isUp: z.boolean().meta({ description: 'Whether the database responds; otherwise nothing else is known.' }),
  schema: z.string().nullable().meta({ description: 'The latest migration.' }),
  missing: z.array(z.string()).meta({ description: 'Migrations that have not run yet.' }),
  unknown: z.array(z.string()).meta({ description: 'Migrations of a newer version.' }),
});
export type StoreStatus = z.output<typeof storeStatus>;

/** The status of a service as seen by one of its processes. Times are RFC 3339, UTC, with milliseconds. */
export interface ServiceStatus {
  version: string;
  startedAt: string;
  store: StoreStatus;
}

/** How far the event log lags behind the store. */
export const feedStatus = z.object({
  epoch: z.int().meta({ description: 'Increases with each restore.' }),
  pending: z.int().meta({ description: 'Changes that are committed but not yet published.' }),
  oldestPendingAgeSeconds: z.number().meta({ description: 'The age of the oldest pending change.' }),
  deadLetters: z
    .object({ relay: z.int(), gateway: z.int() })
    .meta({ description: 'What waits for an operator, by who put it aside.' }),
});
export type FeedStatus = z.output<typeof feedStatus>;

export interface TasksStatus extends ServiceStatus {
  /** Null while the store does not respond. */
  feed: FeedStatus | null;
  eventLog: { system: 'kafka' | 'memory'; isUp: boolean };
  /** How long the relay to the event log has been failing; absent if it works. */
  relayFailingSeconds?: number | undefined;
}

const knownArchive = z.object({
  file: z.string(),
  createdAt: timeSchema,
  sizeBytes: z.int(),
  verifiedAt: timeSchema.nullable().meta({ description: 'When a test restore of it last succeeded.' }),
});
export type KnownArchive = z.output<typeof knownArchive>;

const scheduleStatus = z
  .object({
    pattern: z.string().meta({ description: 'A cron pattern, in UTC.' }),
    nextAt: timeSchema.nullable(),
    failingSince: timeSchema.nullable().meta({ description: 'Null unless its last run failed.' }),
  })
  .nullable();
export type ScheduleStatus = NonNullable<z.output<typeof scheduleStatus>>;

export const undoableRestore = z.object({
  file: z.string(),
  stores: z.array(z.string()),
  isUndo: z.boolean().meta({ description: 'Whether it was itself an undo.' }),
  restoredAt: timeSchema,
  keptUntil: timeSchema,
  replacedKeptMs: z.int().meta({
    description: 'How long what an undo replaces would be kept, in milliseconds; 0 means not at all.',
  }),
});
/** The last restore, while the stores that it replaced are kept. */
export type UndoableRestore = z.output<typeof undoableRestore>;

export const backupsStatus = z.object({
  place: z.enum(['directory', 'bucket']),
  isEncrypted: z.boolean().meta({ description: 'Whether new archives are encrypted.' }),
  archives: z
    .object({
      count: z.int(),
      totalBytes: z.int(),
      newest: knownArchive.nullable().meta({ description: 'Made here, and not known to be unusable.' }),
      newestProved: knownArchive.nullable().meta({ description: 'Made here, and verified by a test restore.' }),
    })
    .nullable()
    .meta({ description: 'Null while the backup storage, or the database that lists them, does not respond.' }),
  schedule: scheduleStatus.meta({ description: 'When archives are made (`BACKUP_SCHEDULE`); null: on request only.' }),
  verifySchedule: scheduleStatus.meta({
    description: 'When they are verified again (`BACKUP_VERIFY_SCHEDULE`); null: on request only.',
  }),
  verifiesScheduled: z.boolean().meta({ description: 'Whether each scheduled archive is verified right away.' }),
  keep: z
    .record(z.string(), z.int())
    .nullable()
    .meta({ description: 'How many scheduled archives are kept (`BACKUP_KEEP`); null: all.' }),
  undoableMs: z.int().meta({ description: 'How long a restore can be undone (`RESTORE_KEEP_OLD`).' }),
  undoable: undoableRestore.nullable().optional().meta({
    description:
      'The restore that an undo would take back; null if nothing is kept. Missing while the database of the backups does not respond.',
  }),
});
export type BackupsStatus = z.output<typeof backupsStatus>;

export interface BackupStatus extends ServiceStatus {
  backups: BackupsStatus;
}

/** Reports a service's status to operators. Returns in time even while its dependencies are unavailable. */
export interface StatusOf<Status> {
  status(): Promise<Status>;
}

const forOperators = <Status>(service: string, schema: z.ZodType): InternalApi<StatusOf<Status>> => ({
  service,
  caller: { role: 'operator' },
  timeoutMs: STATUS_MS,
  names: ['status'],
  resultSchemas: { status: schema },
});

/** The parts of each status that the gateway uses; it passes on the rest unchanged. */
const serviceParts = z.looseObject({
  store: z.looseObject({ missing: z.array(z.string()), unknown: z.array(z.string()) }),
});
const tasksParts = serviceParts.extend({
  feed: z.looseObject({ deadLetters: z.looseObject({ relay: z.number(), gateway: z.number() }) }).nullable(),
  eventLog: z.looseObject({ isUp: z.boolean() }),
  relayFailingSeconds: z.number().optional(),
});
const backupParts = serviceParts.extend({ backups: z.looseObject({}) });

export const authOperators = forOperators<ServiceStatus>('auth', serviceParts);
export const tasksOperators = forOperators<TasksStatus>('tasks', tasksParts);
export const backupOperators = forOperators<BackupStatus>('backup', backupParts);

/** A change that the event log refused, or a record that a gateway could not read. Subscribers still get the change. */
export const deadLetter = z.object({
  id: z.string(),
  source: z.enum(['relay', 'gateway']).meta({
    description: '`relay`: a change that the event log refused; `gateway`: a record that gateways could not read.',
  }),
  changeId: z.string().nullable().meta({ description: 'The change in the change log, if known.' }),
  ownerId: z.string().nullable(),
  sequence: z.string().nullable().meta({ description: 'The number of the change among those of its owner.' }),
  reason: z.string(),
  record: z.string().nullable().meta({ description: 'What a gateway read, up to 64 KiB; it may contain user data.' }),
  diedAt: timeSchema,
  canReplay: z.boolean().meta({ description: 'Whether the change is still in the change log.' }),
});
export type DeadLetter = z.output<typeof deadLetter>;

export type DeadLetterChoice = { ids: string[] } | { all: true };

/** Functions of tasks for operators. Tasks validates `choice`, which comes from a client. */
export interface DeadLettersInternal {
  /** Lists dead letters in the order of their ids, starting after `after`. @throws AppError BAD_USER_INPUT */
  deadLetters(page: { after?: string; limit?: number }): Promise<DeadLetter[]>;
  /** Publishes the changes again. Dead letters whose change is no longer in the change log stay. */
  replayDeadLetters(choice: unknown): Promise<{ replayed: number }>;
  discardDeadLetters(choice: unknown): Promise<{ discarded: number }>;
}

export const deadLettersInternal: InternalApi<DeadLettersInternal> = {
  service: 'tasks',
  caller: { role: 'operator' },
  timeoutMs: SHORT_CALL_MS,
  names: ['deadLetters', 'replayDeadLetters', 'discardDeadLetters'],
  resultSchemas: {
    deadLetters: z.array(z.looseObject({ id: z.string() })),
    replayDeadLetters: z.looseObject({ replayed: z.number() }),
    discardDeadLetters: z.looseObject({ discarded: z.number() }),
  },
};
