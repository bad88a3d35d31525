import { askInTime } from '@taskmesh/service';
import type { Database } from './database.ts';

const NOTHING_KNOWN = { isUp: false, schema: null, missing: [], unknown: [] };

/** How a store is, for operators. Answers within `withinMs`, and has one question under way at the most, however long the database stays silent. */
export function createStoreStatus(database: Pick<Database, 'schemaState' | 'versions'>, withinMs: number) {
  const ask = askInTime(withinMs, async () => {
    const { missing, unknown } = await database.schemaState();
    const applied = [...database.versions.filter((version) => !missing.includes(version)), ...unknown];
    return { isUp: true, schema: applied.at(-1) ?? null, missing, unknown };
  });
  return async () => (await ask()) ?? NOTHING_KNOWN;
}
