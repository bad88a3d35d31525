import { askInTime } from '@taskmesh/service';
import type { Database } from './database.ts';

/** How a store is, for operators. */
export interface StoreStatus {
  /** Whether the database answers in time; otherwise nothing else is known. */
  isUp: boolean;
  /** The last migration that was applied. */
  schema: string | null;
  missing: string[];
  unknown: string[];
}

const NOTHING_KNOWN: StoreStatus = { isUp: false, schema: null, missing: [], unknown: [] };

/** Answers within `withinMs`, and has one question under way at the most, however long the database stays silent. */
export function createStoreStatus(
  database: Pick<Database, 'schemaState' | 'versions'>,
  withinMs: number,
): () => Promise<StoreStatus> {
  const ask = askInTime(withinMs, async (): Promise<StoreStatus> => {
    const { missing, unknown } = await database.schemaState();
    const applied = [...database.versions.filter((version) => !missing.includes(version)), ...unknown];
    return { isUp: true, schema: applied.at(-1) ?? null, missing, unknown };
  });
  return async () => (await ask()) ?? NOTHING_KNOWN;
}
