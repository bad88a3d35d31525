import type { Database, Session } from '../database/index.ts';
import type { ColumnType } from '@taskmesh/contracts';
import type { StoreTables } from '@taskmesh/internal-api';
import type { Columns, RestoredSchema } from './restored-tables.ts';

/** A rule for every row, and SQL that is true for a row `r` that breaks it. */
export interface RowRule {
  sentence: string;
  broken: string;
}

export interface ImportedColumn {
  type: ColumnType;
  isNullable?: boolean;
  /** Counts from 1. Unusable values restart at 1, unless rows are imported unchanged. */
  isVersion?: boolean;
}

/** The live store (`from`) and a database on the same server (`to`). */
export interface Stores {
  from: Session;
  to: Session;
}

export interface StoreRules {
  /** The only table imported from dumps made elsewhere. */
  table: string;
  columns: Record<string, ImportedColumn>;
  /** Columns that a dump must have; the others have defaults in the store. */
  needed: readonly string[];
  rulesFor(columns: Columns): RowRule[];
  /** The parameters of the rules' SQL. */
  values: unknown[];
  /** Checks that span several rows. Resolves with a sentence; undefined when all is well. */
  check?(session: Session, schema: RestoredSchema, columns: Columns): Promise<string | undefined>;
  /** The refusal of a dump with rows that violate a unique constraint. */
  duplicates: string;
  /** What archives made by Taskmesh bring back. */
  tables: StoreTables;
  /** Completes a store with its imported rows, in one transaction in `to`; the restored rows are still readable. */
  complete(stores: Stores, of: 'archive' | 'dump'): Promise<void>;
}

export type StoreDatabase = Pick<Database, 'migrate' | 'versions' | 'close'>;
