import type { ArchivedStore, ImportResult, StoreComparison } from '@taskmesh/internal-api';

/** The stores that are backed up; each belongs to the service of that name. */
export const STORE_NAMES = ['tasks', 'auth'] as const;

export type StoreName = (typeof STORE_NAMES)[number];

/** What the service that owns a store does for a restore. */
export interface StoreOwner {
  /** Turns a loaded database into a store that can replace the live one. */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** What would change if an imported database replaced the live one. */
  compare(database: string): Promise<StoreComparison>;
  /** Copies what a restore must not undo, right before the swap; absent if there is no such data. */
  carryOver?(database: string): Promise<void>;
  /** Prepares a database that was the live store before to be that again. */
  resume(database: string): Promise<void>;
  /** Makes clients start over; absent if they follow nothing. */
  newEpoch?(atLeast?: number | null): Promise<number>;
}

export interface Store {
  name: StoreName;
  /** Has the right to create databases and roles; the path names the live database. */
  adminUrl: string;
  owner: StoreOwner;
}

/** The dump that every archive contains, whoever made it. */
export const MAIN_DUMP = 'database.sql';

/** The dumps' names in archives made by Taskmesh. */
export const DUMP_FILES: Record<StoreName, string> = { tasks: MAIN_DUMP, auth: 'auth.sql' };
