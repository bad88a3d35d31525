import type { ArchivedStore, ImportResult, StoreComparison } from '@taskmesh/internal-api';

/** The stores that are backed up; each belongs to the service of that name. */
export const STORE_NAMES = ['tasks', 'auth'] as const;

export type StoreName = (typeof STORE_NAMES)[number];

export interface StoreOwner {
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  compare(database: string): Promise<StoreComparison>;
  /** Copies what a restore must not undo, right before the swap; absent if there is no such data. */
  carryOver?(database: string): Promise<void>;
  resume(database: string): Promise<void>;
  /** Makes those who follow the store start over; absent if they follow nothing. */
  newEpoch?(atLeast?: number | null): Promise<number>;
}

export interface Store {
  name: StoreName;
  /** Has the right to create databases and roles; the path names the live database. */
  adminUrl: string;
  owner: StoreOwner;
}

/** The dump that every archive contains, wherever it was made. */
export const MAIN_DUMP = 'database.sql';

export const DUMP_FILES: Record<StoreName, string> = { tasks: MAIN_DUMP, auth: 'auth.sql' };
