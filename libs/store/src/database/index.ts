export { createDatabase, transactionsOf, type Database, type DatabaseOptions, type StoreOptions } from './database.ts';
export { readBacklog, watchBacklog, type Backlog } from './backlog.ts';
export * from './schema-gate.ts';
export { asUnavailable, isCheckViolation, isUniqueViolation, outcomeOf, unlessFrozen } from './failures.ts';
export { connect, databaseOf, inDatabase, type ConnectionOptions, type Settings } from './connection.ts';
export { whyUnfit } from './why-postgres-fails.ts';
export { SQL_STATE } from './sql-state.ts';
export { inTransaction, openSession, type Session, type SessionOptions, type SqlSession } from './session.ts';
export type { Statement } from './statement.ts';
