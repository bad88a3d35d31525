export { scannedTables, statementsOf } from './scanned-tables.ts';
export { schemaDifference } from './schema-difference.ts';
export { SESSION_LIMITS } from './session-limits.ts';
