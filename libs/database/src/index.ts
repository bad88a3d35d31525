export { createDatabase, type Database, type DatabaseOptions } from './database.ts';
export { asUnavailable, outcomeOf, whileAway, type RetryOptions } from './failures.ts';
export { withAdvisoryLock } from './advisory-lock.ts';
export { openSession, type Session, type SessionOptions } from './session.ts';
export type { Statement } from './statement.ts';
