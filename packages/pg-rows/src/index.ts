export { lockTables, readTableBytes, type RowsOf } from './dump/catalogue.ts';
export { dumpDatabase, type Dump, type DumpOptions } from './dump/dump-database.ts';
export { countOmitted, DumpError } from './dump/dumpable.ts';
export { openSnapshot, type Snapshot } from './dump/snapshot.ts';
export { type Skipped } from './load/dump-schema.ts';
export { loadDump, type LoadOptions, type LoadReport } from './load/load-dump.ts';
export { loadDumpInChild, type ChildLoadOptions } from './load/load-in-child.ts';
export { LoadError } from './load/load-error.ts';
export { checkOnlyTables } from './load/only-tables.ts';
