/** The schema that a dump's tables are loaded into: columns of PostgreSQL's own types, and rows. */
export const RESTORED_SCHEMA = 'restored';

/** Names of what one restore makes on a store's server; all of them can be told from the id in the journal. */
export interface RestoreNames {
  /** The store's own database. */
  live: string;
  /** Where the dump is loaded; becomes `live`. */
  fresh: string;
  /** What `live` becomes, until the new one answers. */
  old: string;
  /** The role that runs the dump. */
  loader: string;
}

/** PostgreSQL cuts longer names. */
const MAX_NAME_BYTES = 63;
const LONGEST_SUFFIX_BYTES = 32;

/** `id`: up to 16 letters or digits, unique to the restore. */
export function restoreNames(live: string, id: string): RestoreNames {
  const stem = Buffer.from(live)
    .subarray(0, MAX_NAME_BYTES - LONGEST_SUFFIX_BYTES)
    .toString('latin1')
    .replaceAll(/[^\w]/g, '_');
  return { live, fresh: `${stem}_restore_${id}`, old: `${stem}_old_${id}`, loader: `${stem}_loader_${id}` };
}
