export { compareRows, copyRows, countRows, eachBatch, type CopiedTable } from './rows.ts';
export { mirrorRows, type MirroredTable } from './mirror-rows.ts';
export { createImporter, type ImporterOptions } from './create-importer.ts';
export {
  BLANKS,
  brokenRules,
  charactersThat,
  columnsOf,
  inOurYears,
  LARGEST_VERSION,
  RESTORED,
  STORE,
  valueOf,
  type Columns,
  type ImportedColumn,
  type RowRule,
  type StoreRules,
  type Stores,
} from './restored-tables.ts';
