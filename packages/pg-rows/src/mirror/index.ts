export { mirrorRows, type MirroredTable } from './mirror-rows.ts';
export {
  compareRows,
  copyRows,
  countRows,
  eachBatch,
  type CopiedTable,
  type Databases,
  type KeyType,
  type ReadTable,
  type RowsDifference,
  type Session,
  type Table,
} from './rows.ts';
