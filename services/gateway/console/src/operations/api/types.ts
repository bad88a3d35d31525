import type {
  BackupList,
  BackupWorkLine,
  DeadLetterList,
  PlatformStatus as PlatformStatusAnswer,
} from './answers.generated.ts';

/** The response of `/api/operations/status`. */
export type PlatformStatus = PlatformStatusAnswer['data'];
export type ServiceStatus = PlatformStatus['services'][number];
export type BackupsStatus = NonNullable<PlatformStatus['backups']>;
export type Schedule = NonNullable<BackupsStatus['schedule']>;

export type Backup = BackupList['data'][number];
export type UndoableRestore = NonNullable<BackupsStatus['undoable']>;
export type DeadLetter = DeadLetterList['data'][number];

export type Progress = NonNullable<BackupWorkLine['progress']>;

/** The last line of a long operation. */
export type WorkEnd = Omit<BackupWorkLine, 'progress'> &
  Required<Pick<BackupWorkLine, 'status' | 'success' | 'message'>>;
