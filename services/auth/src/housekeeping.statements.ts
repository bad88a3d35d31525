import { STORE_TABLES } from '@taskmesh/internal-api';
import type { Statement } from '@taskmesh/store';
import { FORGET_AFTER_S } from './sessions/ended-session.repository.ts';

/** Rows per statement, so that each ends well within the statement timeout. */
export const BATCH = 1_000;
/** Maximum number of failed logins without an account that are kept: anyone can cause them. */
const MAX_ENTRIES_WITHOUT_ACCOUNT = 100_000;

export const DATABASE_TIME: Statement = {
  name: 'auth-database-time',
  text: 'select extract(epoch from clock_timestamp()) * 1000 as ms',
};

/** Each removes at most a batch of rows that expired before $1, and returns one row for each. */
export const EXPIRED: readonly Statement[] = Object.entries(STORE_TABLES.auth).flatMap(([table, { expires }]) => {
  if (!expires) return [];
  const keptSeconds = table === 'ended_sessions' ? FORGET_AFTER_S : 0;
  const isExpired = `${expires} <= $1::timestamptz - interval '${keptSeconds} s'`;
  const which = `select ctid from ${table} where ${isExpired} limit ${BATCH}`;
  // Checks again, as a row may have been extended while the statement waited for its lock. `is true` keeps the server from using an
  // index for that, and comparing each expired row with each of the batch.
  const text = `delete from ${table} where ctid = any (array(${which})) and (${isExpired}) is true returning 1`;
  return [{ name: `auth-expired-${table}`, text }];
});

/*
 * Entries are deleted by `ctid`, because a join with the subquery may compare each of its rows with each of the table's: the
 * table's statistics may say that it is empty, as it was before.
 */

/** Oldest entries first, by id. Times follow the same order, except where clocks differ. */
const oldest = (which: string) => `
  delete from audit_log where ctid = any (array(
    select ctid from (select ctid, at from audit_log where ${which} order by id limit ${BATCH}) oldest where at <= ?
  )) returning 1`;

/** Each removes at most a batch of entries older than its parameter, and returns one row for each. */
export const OLD_ENTRIES = oldest('true');
export const OLD_FREQUENT_ENTRIES = oldest(`kind in ('login.failed', 'session.refreshed')`);

/** Removes at most a batch. */
export const ENTRIES_WITHOUT_ACCOUNT = `
  delete from audit_log where ctid = any (array(
    select ctid from audit_log where account_id is null and id <= (
      select id from audit_log where account_id is null order by id desc offset ${MAX_ENTRIES_WITHOUT_ACCOUNT} limit 1
    ) order by id limit ${BATCH}
  )) returning 1`;

/** Removes at most a batch of entries of accounts that were deleted between its parameters. */
export const ENTRIES_OF_DELETED = `
  delete from audit_log where ctid = any (array(
    select entry.ctid from account_log deleted, lateral (
      select ctid from audit_log where account_id = deleted.account_id and kind <> 'account.deleted' limit ${BATCH}
    ) entry
    where deleted.occurred_at >= ? and deleted.occurred_at < ?
    limit ${BATCH}
  )) returning 1`;
