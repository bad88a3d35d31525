export { mirrorRows, type MirroredTable } from './mirror-rows.ts';
export { compareRows, copyRows, countRows, eachBatch } from './rows.ts';
export type { CopiedTable, Databases, KeyType, ReadTable, RowsDifference, Session, Table } from './rows.ts';
