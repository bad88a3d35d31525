import { z } from 'zod';
import type { UndoableRestore } from './backup/backup-work.ts';
import { SMALL_CALL_MS, STATUS_MS, type InternalApi } from './calls.ts';

/** A service as one of its processes sees it. Times are RFC 3339, UTC, with milliseconds. */
export interface ServiceStatus {
  version: string;
  startedAt: string;
  store: StoreStatus;
  /** For how long its relay to the event log has been unable to work; absent when it works. */
  relayFailingSeconds?: number | undefined;
}

export interface StoreStatus {
  /** Whether the database answers in time; otherwise nothing else is known. */
  isUp: boolean;
  /** The last migration that was applied; null when there was none, or nothing is known. */
  schema: string | null;
  /** Migrations that this version knows and the database lacks. */
  missing: string[];
  /** Migrations of a newer version. */
  unknown: string[];
}

/** How far the event log is behind the store. */
export interface FeedStatus {
  epoch: number;
  /** Changes that are committed and not yet published. */
  pending: number;
  /** Of the oldest of them; 0 without any. */
  oldestPendingAgeSeconds: number;
  /** What waits for an operator, by who put it aside. */
  deadLetters: { relay: number; gateway: number };
}

export interface TasksStatus extends ServiceStatus {
  /** Null while the store does not answer. */
  feed: FeedStatus | null;
  eventLog: { system: 'kafka' | 'memory'; isUp: boolean };
}

export interface KnownArchive {
  file: string;
  createdAt: string;
  sizeBytes: number;
  verifiedAt: string | null;
}

/** A moment that comes again and again. */
export interface ScheduleStatus {
  /** A cron pattern, in UTC. */
  pattern: string;
  nextAt: string | null;
  /** Since when its runs have failed; null when the last one did not. */
  failingSince: string | null;
}

export interface BackupsStatus {
  place: 'directory' | 'bucket';
  isEncrypted: boolean;
  /** Null while their place, or the catalogue, does not answer. */
  archives: {
    count: number;
    totalBytes: number;
    /** The newest one that was made here and is not known to be unfit. */
    newest: KnownArchive | null;
    /** The newest one that was made here and that a restore has proved. */
    newestProved: KnownArchive | null;
  } | null;
  /** Null: on request only. */
  schedule: ScheduleStatus | null;
  verifySchedule: ScheduleStatus | null;
  /** Whether each scheduled archive is proved at once. */
  verifiesScheduled: boolean;
  /** How many of the scheduled ones are kept, by period; null: all. */
  keep: Record<string, number> | null;
  /** How long a restore can be undone. */
  undoableMs: number;
  /** The restore that an undo would revert; null when nothing is kept, missing when the catalogue does not answer. */
  undoable?: UndoableRestore | null;
}

export interface BackupStatus extends ServiceStatus {
  backups: BackupsStatus;
}

/** What each service tells operators of itself; it answers in time, also while things behind it are away. */
export interface StatusOf<Status> {
  status(): Promise<Status>;
}

const forOperators = <Status>(service: string, answer: z.ZodType): InternalApi<StatusOf<Status>> => ({
  service,
  caller: { role: 'operator' },
  timeoutMs: STATUS_MS,
  names: ['status'],
  answers: { status: answer },
});

/** Of each status, what the gateway looks into; it shows the rest as it comes. */
const ofService = z.looseObject({
  store: z.looseObject({ missing: z.array(z.string()), unknown: z.array(z.string()) }),
  relayFailingSeconds: z.number().optional(),
});
const ofTasks = ofService.extend({
  feed: z.looseObject({ deadLetters: z.looseObject({ relay: z.number(), gateway: z.number() }) }).nullable(),
  eventLog: z.looseObject({ isUp: z.boolean() }),
});
const ofBackup = ofService.extend({ backups: z.looseObject({}) });

export const authOperators = forOperators<ServiceStatus>('auth', ofService);
export const tasksOperators = forOperators<TasksStatus>('tasks', ofTasks);
export const backupOperators = forOperators<BackupStatus>('backup', ofBackup);

/** A change that the event log refused, or a record that a gateway could not read. Subscribers still get the change. */
export interface DeadLetter {
  id: string;
  source: 'relay' | 'gateway';
  /** The change's id in the change log; null when the record does not tell. */
  changeId: string | null;
  ownerId: string | null;
  sequence: string | null;
  reason: string;
  /** The raw record; only from gateways. */
  record: string | null;
  diedAt: string;
  canReplay: boolean;
}

export type DeadLetterChoice = { ids: string[] } | { all: true };

/** What tasks offers to operators. The choice is checked there: it comes from a client. */
export interface DeadLettersInternal {
  /** In the order of their ids, from behind `after`. @throws AppError BAD_USER_INPUT */
  deadLetters(page: { after?: string; limit?: number }): Promise<DeadLetter[]>;
  /** Publishes the changes again. Dead letters whose change is no longer in the change log stay. */
  replayDeadLetters(choice: unknown): Promise<{ replayed: number }>;
  discardDeadLetters(choice: unknown): Promise<{ discarded: number }>;
}

export const deadLettersInternal: InternalApi<DeadLettersInternal> = {
  service: 'tasks',
  caller: { role: 'operator' },
  timeoutMs: SMALL_CALL_MS,
  names: ['deadLetters', 'replayDeadLetters', 'discardDeadLetters'],
  answers: {
    deadLetters: z.array(z.looseObject({ id: z.string() })),
    replayDeadLetters: z.looseObject({ replayed: z.number() }),
    discardDeadLetters: z.looseObject({ discarded: z.number() }),
  },
};
