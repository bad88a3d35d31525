import { createHash } from 'node:crypto';
import type { Client } from 'pg';

/** The schema for a dump's tables while they are loaded, with columns of built-in types only. */
export const RESTORED_SCHEMA = 'restored';

/** The names of the databases and the role of one restore on a store's server, derived from the id in the journal. */
export interface RestoreNames {
  live: string;
  /** The database that is to replace `live`. */
  fresh: string;
  /** The new name of the replaced database. */
  old: string;
  loader: string;
}

/** PostgreSQL truncates longer names. */
const MAX_NAME_BYTES = 63;
const MAX_ID_LENGTH = 16;
const MARK_CHARACTERS = 6;
const MAX_SUFFIX_BYTES = `_${'x'.repeat(MARK_CHARACTERS)}_restore_`.length + MAX_ID_LENGTH;

/** `id`: up to 16 letters or digits, unique per restore. */
export function restoreNames(live: string, id: string): RestoreNames {
  const stem = Buffer.from(live)
    .subarray(0, MAX_NAME_BYTES - MAX_SUFFIX_BYTES)
    .toString('latin1')
    .replaceAll(/[^\w]/g, '_');
  // Distinguishes stores whose names begin alike.
  const mark = createHash('sha256').update(live).digest('hex').slice(0, MARK_CHARACTERS);
  const named = (what: string) => `${stem}_${mark}_${what}_${id}`;
  return { live, fresh: named('restore'), old: named('old'), loader: named('loader') };
}

/** The ids (oids) of those databases of a restore that exist. A database keeps its id when it is renamed. */
export async function databaseIds(client: Client, { live, fresh }: RestoreNames) {
  const { rows } = await client.query<{ name: string; id: string }>(
    'select datname as name, oid::text as id from pg_catalog.pg_database where datname = any($1)',
    [[live, fresh]],
  );
  const ids = new Map(rows.map(({ name, id }) => [name, id]));
  return { live: ids.get(live), fresh: ids.get(fresh) };
}
