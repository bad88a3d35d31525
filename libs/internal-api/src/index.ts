export {
  answerInTime,
  callInProcess,
  createInternalClient,
  IMPORT_MS,
  internalRoutes,
  STATUS_MS,
  STATUS_PART_MS,
  type InternalApi,
  type InternalClientOptions,
  type Routes,
} from './calls.ts';
export { createAnswerBudget, createServicePool, createStreamPool, type Post, type ServicePool } from './pools.ts';
export {
  STORE_TABLES,
  type AccountsComparison,
  type ArchivedStore,
  type CountChange,
  type ImportResult,
  type RowsChange,
  type StoreComparison,
  type StoreTable,
  type StoreTables,
} from './stores.ts';
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
  backupsStatus,
  deadLetter,
  deadLettersInternal,
  feedStatus,
  storeStatus,
  tasksOperators,
  undoableRestore,
  type BackupsStatus,
  type BackupStatus,
  type DeadLetter,
  type DeadLetterChoice,
  type DeadLettersInternal,
  type FeedStatus,
  type KnownArchive,
  type ScheduleStatus,
  type ServiceStatus,
  type StatusOf,
  type StoreStatus,
  type TasksStatus,
} from './operators.ts';
export { createBackupWorkClient } from './backup/client.ts';
export { createLines, readLines, receiveBody, type Lines } from './backup/streams.ts';
export {
  asSeenRestore,
  queryOfRestore,
  refuseOthers,
  RESTORE_PARAMETERS,
  restoreParametersOf,
  seenRestoreOf,
  UNDO_PARAMETERS,
  type RestoreParameters,
} from './backup/parameters.ts';
export { backupWorkRoutes } from './backup/serve.ts';
export { selects } from './graph/selection.ts';
export { createSubgraphServer, type SubgraphServerOptions } from './graph/server.ts';
export {
  createSubgraph,
  forOperators,
  operationSpan,
  readTypeDefs,
  requireOperator,
  requireSession,
  requireUser,
  type Subgraph,
  type SubgraphCall,
  type SubgraphContext,
  type SubgraphOptions,
} from './graph/subgraph.ts';
