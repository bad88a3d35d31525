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
export * from './stores.ts';
export * from './auth.ts';
export * from './tasks.ts';
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
export * from './operators.ts';
export { createBackupWorkClient } from './backup/client.ts';
export { createLines, readLines, receiveBody, type Lines } from './backup/streams.ts';
export * from './backup/parameters.ts';
export { backupWorkRoutes } from './backup/serve.ts';
export { selects, timesSelected } from './graph/selection.ts';
export { createSubgraphServer, type SubgraphServerOptions } from './graph/server.ts';
export * from './graph/subgraph.ts';
