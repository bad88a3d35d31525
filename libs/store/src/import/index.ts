export { compareRows, countRows } from './compare-rows.ts';
export { copyRows, type CopiedTable } from './copy-rows.ts';
export { mirrorRows, type MirroredTable } from './mirror-rows.ts';
export { createImporter, type ImporterOptions } from './create-importer.ts';
export { columnsOf, RESTORED, STORE, valueOf, type Columns } from './restored-tables.ts';
export { BLANKS, brokenRules, charactersThat, inOurYears, LARGEST_VERSION } from './row-rules.ts';
export type { ImportedColumn, RowRule, StoreRules, Stores } from './store-rules.ts';
