export { epochAt, MAX_EPOCH } from './change-log/epoch-at.ts';
export { createSignal, createWorkerHealth, keepWorking } from './change-log/keep-working.ts';
export { LONGEST_MS, openLockSession } from './change-log/lock-session.ts';
export * from './database/database.ts';
export { readBacklog, watchBacklog, type Backlog } from './database/backlog.ts';
export * from './database/schema-gate.ts';
export {
  asUnavailable,
  isCheckViolation,
  isUniqueViolation,
  outcomeOf,
  explainFrozen,
  retryWhileUnavailable,
} from './database/failures.ts';
export { connect, databaseOf, inDatabase, type ConnectionOptions, type Settings } from './database/connection.ts';
export { findDatabaseProblem } from './database/postgres-problems.ts';
export { SQL_STATE } from './database/sql-state.ts';
export { inTransaction, openSession, type Session, type SessionOptions, type SqlSession } from './database/session.ts';
export type { Statement } from './database/prepared-query.ts';
export { rfc3339 } from './database/rfc3339.ts';
export { createImporter, type ImporterOptions } from './import/create-importer.ts';
export {
  BLANKS,
  findBrokenRules,
  filterCharacters,
  columnsOf,
  supportedYearsRule,
  MAX_VERSION,
  RESTORED,
  STORE,
  tablesOf,
  valueOf,
  type Columns,
  type ImportedColumn,
  type RowRule,
  type StoreRules,
  type Stores,
} from './import/restored-tables.ts';
