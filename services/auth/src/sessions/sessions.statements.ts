import type { Statement } from '@taskmesh/database';

/**
 * Opens a session of `account`, a preceding part of the same statement, so that one round trip writes everything.
 * $1 session id, $2 account id, $3 now, $4 tokens until, $5 expires at, $6 hash of a refresh token or null, $7 its
 * expiry, $8 ip, $9 request id, $10 kind of the audit entry, $11 hash of the refresh token's family or null, $12
 * client.
 */
export const OPENING = `
  session as (
    insert into sessions (id, account_id, created_at, tokens_until, expires_at, refresh_family, ip, client)
    select $1::uuid, id, $3::timestamptz, $4::timestamptz, $5::timestamptz, $11::text, $8::text, $12::text from account
    returning id, account_id, created_at
  ),
  refresh as (
    insert into refresh_tokens (hash, session_id, created_at, expires_at)
    select $6::text, id, created_at, $7::timestamptz from session where $6::text is not null
  ),
  audit as (
    insert into audit_log (at, kind, account_id, session_id, ip, request_id)
    select created_at, $10::text, account_id, id, $8::text, $9::text from session
  )
  select id from session`;

/**
 * $13: the version of the password that was checked. The lock holds off a reset that would miss this session; after an
 * earlier reset there is no row, and thus no session.
 */
export const OPEN_SESSION: Statement = {
  name: 'auth-open-session',
  text: `with account as (
    select id from accounts where id = $2::uuid and password_version = $13::integer for share
  ), ${OPENING}`,
};

/** $1 after, $2 forgotten before, $3 limit. Rows and head come from one snapshot. */
export const ENDED_SESSIONS: Statement = {
  name: 'auth-ended-sessions',
  text: `
    select counter.last as head, ended.sequence, ended.session_id, floor(extract(epoch from ended.until)) as until
    from ended_session_counter counter
    left join lateral (
      select sequence, session_id, until from ended_sessions
      where sequence > $1::bigint and until > $2::timestamptz
      order by sequence limit $3::integer
    ) ended on true
    order by ended.sequence`,
};

/**
 * For sessions, or anything used like them: $1 ids, $2 when each was used. Writes only uses at least a minute later
 * than the last one, and skips rows that are locked: they wait for their next use, so that gateways never wait for each
 * other.
 */
export const noteUsesOf = (table: string, isUsable: string): Statement => ({
  name: `auth-note-uses-of-${table}`,
  text: `
    with due as (
      select r.id, used.at from ${table} r
      join unnest($1::uuid[], $2::timestamptz[]) used (id, at) on used.id = r.id
      where ${isUsable} and (r.last_used_at is null or used.at >= r.last_used_at + interval '1 minute')
      for update of r skip locked
    )
    update ${table} set last_used_at = due.at from due where ${table}.id = due.id`,
});
