import type { Statement } from '@taskmesh/database';

/** Rows per statement, so that each ends well within the statement timeout. */
export const BATCH = 1_000;
/** The most failed logins without an account that are kept: anyone can cause them. */
const STRANGERS_MAX = 100_000;

export const DATABASE_TIME: Statement = {
  name: 'auth-database-time',
  text: 'select extract(epoch from clock_timestamp()) * 1000 as ms',
};

/** Each removes at most a batch of rows that expired before $1, and returns one row for each. */
export const ENDED_SESSIONS = expired('ended_sessions', 'sequence', 'until');
export const SESSIONS = expired('sessions', 'id', 'expires_at');
export const RESET_TOKENS = expired('reset_tokens', 'hash', 'expires_at');
export const PERSONAL_TOKENS = expired('personal_tokens', 'id', 'expires_at');
export const PENDING_SIGN_INS = expired('pending_sign_ins', 'hash', 'expires_at');
export const SIGN_IN_CODES = expired('sign_in_codes', 'hash', 'expires_at');
export const EMAIL_TOKENS = expired('email_tokens', 'hash', 'expires_at');

function expired(table: string, key: string, end: string): Statement {
  return {
    name: `auth-expired-${table}`,
    text: `delete from ${table} where ${key} in (select ${key} from ${table} where ${end} <= $1 limit ${BATCH}) returning 1`,
  };
}

/** From the oldest entry on, by id; times follow that order, except where clocks differ. */
const oldest = (which: string) => `
  delete from audit_log where id in (
    select id from (select id, at from audit_log where ${which} order by id limit ${BATCH}) oldest where at <= ?
  ) returning 1`;

/** Each removes at most a batch of entries older than its parameter, and returns one row for each. */
export const OLD_ENTRIES = oldest('true');
export const OLD_FREQUENT_ENTRIES = oldest(`kind in ('login.failed', 'session.refreshed')`);

/** Removes at most a batch. */
export const STRANGERS_ENTRIES = `
  delete from audit_log where id in (
    select id from audit_log where account_id is null and id <= (
      select id from audit_log where account_id is null order by id desc offset ${STRANGERS_MAX} limit 1
    ) order by id limit ${BATCH}
  ) returning 1`;

/**
 * Removes at most a batch of entries that were written just when their account was deleted, later than the parameter.
 */
export const ENTRIES_OF_DELETED = `
  delete from audit_log where id in (
    select entry.id from account_log deleted
    join audit_log entry on entry.account_id = deleted.account_id and entry.kind <> 'account.deleted'
    where deleted.occurred_at >= ? limit ${BATCH}
  ) returning 1`;
