export { createDatabase, type Database, type DatabaseOptions, type StoreOptions } from './database.ts';
export { readBacklog, watchBacklog, type Backlog } from './backlog.ts';
export { createSchemaGate, readSchemaPolicy, type SchemaGate, type SchemaPolicy } from './schema-gate.ts';
export { createStoreStatus, type StoreStatus } from './store-status.ts';
export { runMigrations } from './run-migrations.ts';
export {
  asUnavailable,
  isCheckViolation,
  isUniqueViolation,
  outcomeOf,
  whileAway,
  type RetryOptions,
} from './failures.ts';
export { openSession, type Session, type SessionOptions } from './session.ts';
export type { Statement } from './statement.ts';
export { inTransaction } from './transaction.ts';
export { databaseOf, inDatabase } from './database-url.ts';
