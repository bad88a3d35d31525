import type { Database, Session } from '@taskmesh/database';
import type { Columns, ColumnType, RestoredSchema } from './restored-tables.ts';

/** What every row must keep to, and SQL that is true for a row `r` that breaks it. */
export interface RowRule {
  sentence: string;
  broken: string;
}

export interface ImportedColumn {
  type: ColumnType;
  isNullable?: boolean;
  /** Counts from 1 on. One that cannot be used begins anew, unless the rows are taken as they are. */
  isVersion?: boolean;
}

/** The living store and a database beside it. */
export interface Stores {
  from: Session;
  to: Session;
}

/** What differs from store to store. */
export interface StoreRules {
  /** All that is taken of a dump from elsewhere. */
  table: string;
  columns: Record<string, ImportedColumn>;
  /** Columns that a dump must have; the others have a default in the store. */
  needed: readonly string[];
  /** What the rows must keep to besides the types of their columns. */
  rulesFor(columns: Columns): RowRule[];
  /** The parameters of the rules' SQL. */
  values: unknown[];
  /** What no row rule can say. As a sentence; undefined when all is well. */
  check?(session: Session, schema: RestoredSchema, columns: Columns): Promise<string | undefined>;
  /** What two rows of a dump must not have in common, as a refusal. */
  duplicates: string;
  /** Tables that are made anew, or come from the living store. */
  leftBehind: readonly string[];
  /** Tables that only archives made here are trusted with. */
  onlyArchived?: readonly string[];
  /** Completes a store whose rows are in place, in one transaction in `to`; the restored rows can still be read. */
  complete(stores: Stores, of: 'archive' | 'dump'): Promise<void>;
}

/** A service's own database, at whatever address. */
export type StoreDatabase = Pick<Database, 'migrate' | 'versions' | 'close'>;
