import type { StoreName } from '../stores/store.ts';

export interface DumpPolicy {
  /** Tables that are dumped empty. */
  withoutRows: ReadonlySet<string>;
  /** By `table.column`: an SQL expression to dump instead of the value. */
  replaced: ReadonlyMap<string, string>;
}

/** Has the length of the secret that it replaces, and is known only to readers of the dump. */
const OTHER_SECRET = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

/**
 * Secrets and sessions do not leave the store: an old archive in the wrong hands opens nothing. The number of ended
 * sessions is not secret, and a store does not work without it.
 */
export const DUMP_POLICIES: Record<StoreName, DumpPolicy> = {
  tasks: { withoutRows: new Set(), replaced: new Map([['feed_state.cursor_key', OTHER_SECRET]]) },
  auth: {
    withoutRows: new Set([
      ...['sessions', 'refresh_tokens', 'reset_tokens', 'ended_sessions'],
      ...['email_tokens', 'personal_tokens', 'pending_sign_ins', 'sign_in_codes'],
    ]),
    replaced: new Map(),
  },
};
