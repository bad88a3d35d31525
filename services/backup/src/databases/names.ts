import { createHash } from 'node:crypto';

/** The schema that a dump's tables are loaded into: columns of PostgreSQL's own types, and rows. */
export const RESTORED_SCHEMA = 'restored';

/** Names of what one restore makes on a store's server; all of them can be told from the id in the journal. */
export interface RestoreNames {
  /** The store's own database. */
  live: string;
  /** What is to become `live`. */
  fresh: string;
  /** What `live` becomes. */
  old: string;
  /** The role that runs the dump. */
  loader: string;
}

/** PostgreSQL cuts longer names. */
const MAX_NAME_BYTES = 63;
const LONGEST_ID = 16;
const MARK_CHARACTERS = 6;
const LONGEST_SUFFIX_BYTES = `_${'x'.repeat(MARK_CHARACTERS)}_restore_`.length + LONGEST_ID;

/** `id`: up to 16 letters or digits, unique to the restore. */
export function restoreNames(live: string, id: string): RestoreNames {
  const stem = Buffer.from(live)
    .subarray(0, MAX_NAME_BYTES - LONGEST_SUFFIX_BYTES)
    .toString('latin1')
    .replaceAll(/[^\w]/g, '_');
  // Stores whose names begin alike must not share what is made for them.
  const mark = createHash('sha256').update(live).digest('hex').slice(0, MARK_CHARACTERS);
  const named = (what: string) => `${stem}_${mark}_${what}_${id}`;
  return { live, fresh: named('restore'), old: named('old'), loader: named('loader') };
}
