export { scannedTables } from './scanned-tables.ts';
export { schemaDifference } from './schema-difference.ts';
