export { createDatabase, type Database, type DatabaseOptions, type Statement } from './database.ts';
export { asUnavailable, outcomeOf, whileAway, type RetryOptions } from './failures.ts';
export { withAdvisoryLock } from './advisory-lock.ts';
