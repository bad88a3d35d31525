export { createDatabase, type Database, type DatabaseOptions, type StoreOptions } from './database.ts';
export { adoptArchived, type ArchivedStore } from './restored/archived-store.ts';
export { openAdoptionSession } from './restored/adoption-session.ts';
export { compareRows, countRows } from './restored/compare-rows.ts';
export { createSchemaGate, readSchemaPolicy, type SchemaGate, type SchemaPolicy } from './schema-gate.ts';
export { runMigrations } from './run-migrations.ts';
export { asUnavailable, isUniqueViolation, outcomeOf, whileAway, type RetryOptions } from './failures.ts';
export { openSession, type Session, type SessionOptions } from './session.ts';
export type { Statement } from './statement.ts';
export { inTransaction } from './transaction.ts';
export { databaseOf, inDatabase } from './database-url.ts';
export {
  columnsOf,
  RESTORED,
  STORE,
  valueOf,
  whatIsLost,
  whyTooMany,
  type Columns,
  type ColumnType,
  type RestoredSchema,
} from './restored/restored-tables.ts';
export { brokenRules, missingColumns, type RowRule } from './restored/row-rules.ts';
