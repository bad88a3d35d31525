import type { StoreName } from '../stores/store.ts';

/** What of a store's rows is in no dump. */
export interface DumpPolicy {
  /** Tables whose rows stay out; the tables themselves are there, empty. */
  withoutRows: ReadonlySet<string>;
  /** By `table.column`: an SQL expression that is written instead of the value. */
  replaced: ReadonlyMap<string, string>;
}

/** As long as the secret that it stands for, and known to nobody but the reader of the dump. */
const OTHER_SECRET = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

/**
 * What signs or lets somebody in does not leave the store: an old archive in the wrong hands opens nothing. The number of
 * sessions that ended is not secret, and a store without it does not work.
 */
export const DUMP_POLICIES: Record<StoreName, DumpPolicy> = {
  tasks: { withoutRows: new Set(), replaced: new Map([['feed_state.cursor_key', OTHER_SECRET]]) },
  auth: {
    withoutRows: new Set(['sessions', 'refresh_tokens', 'reset_tokens', 'ended_sessions']),
    replaced: new Map(),
  },
};
