import type { ArchivedStore, ImportResult, StoreComparison } from '@taskmesh/internal-api';

/** The stores that are backed up; each belongs to the service of that name. */
export const STORE_NAMES = ['tasks', 'auth'] as const;

export type StoreName = (typeof STORE_NAMES)[number];

/** What the service that owns a store does for a restore. */
export interface StoreOwner {
  /** Makes a loaded database into a store that can take the living one's place. */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** What would change if an imported database took the living one's place. */
  compare(database: string): Promise<StoreComparison>;
  /** Copies what a restore must not undo, right before the swap; absent where there is nothing of that kind. */
  carryOver?(database: string): Promise<void>;
  /** Makes a database that was the living store once fit to be that again. */
  resume(database: string): Promise<void>;
  /** Lets clients begin anew; absent where they follow nothing. */
  newEpoch?(atLeast?: number | null): Promise<number>;
}

export interface Store {
  name: StoreName;
  /** With the right to make databases and roles; its path names the living database. */
  adminUrl: string;
  owner: StoreOwner;
}

/** The name of the dump that every archive has, whoever made it. */
export const MAIN_DUMP = 'database.sql';

/** The dumps' names in an archive that was made here. */
export const DUMP_FILES: Record<StoreName, string> = { tasks: MAIN_DUMP, auth: 'auth.sql' };
