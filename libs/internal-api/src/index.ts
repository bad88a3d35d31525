export type {
  AccountsComparison,
  ArchivedStore,
  CountChange,
  ImportResult,
  RowsChange,
  StoreComparison,
} from './store-import.ts';
export { STORE_TABLES, type StoreTable, type StoreTables } from './store-tables.ts';
export { IMPORT_MS, STATUS_MS, STATUS_PART_MS } from './timeouts.ts';
export { createServicePool, type Post, type ServicePool } from './service-pool.ts';
export { answerInTime, callInProcess } from './in-process.ts';
export { createInternalClient, serveInternalApi, type InternalApi, type InternalClientOptions } from './define.ts';
export {
  accountsInternal,
  authInternal,
  authRestore,
  authSignIn,
  type AccountChanges,
  type AccountLogPosition,
  type AccountsInternal,
  type AuthInternal,
  type AuthRestore,
  type AuthSignIn,
  type CarryOverStage,
  type RequestOrigin,
  type EndedSession,
  type KnownToken,
  type SessionUse,
} from './auth.ts';
export {
  tasksInternal,
  tasksRestore,
  type FeedPosition,
  type Heads,
  type TasksInternal,
  type TasksRestore,
  type UnreadableRecord,
} from './tasks.ts';
export type {
  ArchiveDownload,
  BackupEntry,
  BackupScan,
  BackupWork,
  OnWorkProgress,
  RestoreEnd,
  RestoreForecast,
  UndoableRestore,
  WorkProgress,
} from './backup/backup-work.ts';
export {
  authOperators,
  backupOperators,
  tasksOperators,
  type BackupsStatus,
  type BackupStatus,
  type FeedStatus,
  type KnownArchive,
  type ScheduleStatus,
  type ServiceStatus,
  type StatusOf,
  type StoreStatus,
  type TasksStatus,
} from './operators/status.ts';
export {
  deadLettersInternal,
  type DeadLetter,
  type DeadLetterChoice,
  type DeadLettersInternal,
} from './operators/dead-letters.ts';
export { createBackupWorkClient } from './backup/client.ts';
export { createStreamPool } from './backup/stream-pool.ts';
export { createLines, type Lines } from './backup/lines.ts';
export {
  queryOfRestore,
  RESTORE_PARAMETERS,
  restoreParametersOf,
  type RestoreParameters,
} from './backup/restore-parameters.ts';
export { asSeenRestore, seenRestoreOf, UNDO_PARAMETERS } from './backup/undo-parameters.ts';
export { refuseOthers } from './backup/known-parameters.ts';
export { receiveBody } from './backup/receive-body.ts';
export { serveBackupWork, type ServedBackupWork } from './backup/serve.ts';
export { forOperators, requireOperator, requireSession, requireUser } from './graph/guards.ts';
export { createSubgraphServer, type SubgraphServerOptions } from './graph/server.ts';
export {
  createSubgraph,
  operationSpan,
  type Subgraph,
  type SubgraphCall,
  type SubgraphContext,
  type SubgraphOptions,
} from './graph/subgraph.ts';
