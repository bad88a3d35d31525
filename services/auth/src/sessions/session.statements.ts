import { rfc3339, type Statement } from '@taskmesh/store';

/*
 * The server takes the number of rows from a table's last analysis, when it may have been empty. Then reading all of an index seems as
 * cheap as looking up one row. Where that would hurt, rows are looked up by arrays of ids, not joins, and sorted by a row value, whose
 * order no index offers; and `is true` leaves only the index on the account for a condition.
 */

/**
 * Opens a session of `account`, a preceding part of the same statement, so that one round trip writes everything.
 * $1 session id, $2 account id, $3 now, $4 tokens until, $5 expires at, $6 hash of a refresh token or null, $7 its
 * expiry, $8 ip, $9 request id, $10 kind of the audit entry, $11 hash of the refresh token's family or null, $12
 * client, $13 key of its refresh tokens or null.
 */
export const OPENING = `
  session as (
    insert into sessions (id, account_id, created_at, tokens_until, expires_at, refresh_family, ip, client, refresh_key)
    select $1::uuid, id, $3::timestamptz, $4::timestamptz, $5::timestamptz, $11::text, $8::text, $12::text, $13::text from account
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
 * $14: the version of the password that was checked. The lock delays a reset that would miss this session; after an
 * earlier reset no row matches, and no session is opened. The same applies to an account with $15 sessions.
 */
export const OPEN_SESSION: Statement = {
  name: 'auth-open-session',
  text: `with account as (
    select id from accounts where id = $2::uuid and password_version = $14::integer and $15::integer > (
      select count(*) from (
        select from sessions where account_id = $2::uuid and ended_at is null and (expires_at > $3::timestamptz) is true limit $15::integer
      ) active
    ) for share
  ), ${OPENING}`,
};

/** Maximum number of ended sessions in the response of one operation; gateways read the others from the list. */
const MAX_LISTED = 1_000;

/** The first parameters of each statement that ends sessions or tokens: see `EndOptions`. */
const PARAMETERS = `
  params as (
    select ?::uuid as account_id, ?::uuid as kept, ?::timestamptz as now, ?::timestamptz as forgotten_before,
      ?::timestamptz as latest, ?::boolean as is_recorded, ?::text as ip, ?::text as request_id
  )`;

/**
 * Adds the rows of `ended` to the list, except those whose tokens have expired, and returns how many ended, how many rows of `usable`
 * were usable, and the list. The counter is the last lock that a transaction takes, so sequences have no gaps and follow the order of
 * commits: a reader that has seen a sequence has missed no earlier one.
 */
const listed = (usable: string) => `
  listed as (
    select id, until, row_number() over (order by id) as position from ended, params where until > params.forgotten_before
  ), counter as (
    update ended_session_counter set last = last + (select count(*) from listed) where exists (select from listed)
    returning last - (select count(*) from listed) as before
  ), added as (
    insert into ended_sessions (sequence, session_id, until)
    select before + position, id, until from listed, counter
    returning sequence, session_id, until
  ), returned as (
    select sequence, session_id as "sessionId", floor(extract(epoch from until)) as until
    from added order by sequence limit ${MAX_LISTED}
  )
  select count(*)::integer as count, (select count(*)::integer from ${usable} where was_usable) as usable,
    (select coalesce(json_agg(returned order by sequence), '[]') from returned) as ended from ended`;

/**
 * Ends the account's sessions that `which` selects, except the one to keep: all in one statement, as there may be thousands. They are
 * locked in id order, like everywhere else, to avoid deadlocks. An ended session expires with its last access token, as its row is no
 * longer needed then.
 */
const endingSessions = (which: string) => `
  with ${PARAMETERS}, locked as materialized (
    select session.id, session.expires_at > (select now from params) as was_usable from sessions session
    where session.account_id = (select account_id from params) and session.ended_at is null
      and session.id is distinct from (select kept from params) and ${which}
    order by row(session.id) for update
  ), ended as (
    update sessions set ended_at = (select now from params), expires_at = tokens_until where id = any (array(select id from locked))
    returning id, tokens_until as until
  ), recorded as (
    insert into audit_log (at, kind, account_id, session_id, ip, request_id)
    select params.now, 'session.ended', params.account_id, ended.id, params.ip, params.request_id
    from ended, params where params.is_recorded order by ended.id
  ), ${listed('locked')}`;

export const END_ALL_SESSIONS = endingSessions('true');

/** The last parameter is the session's id. */
export const END_SESSION = endingSessions('session.id = ?::uuid');

/** Ends the least recently used sessions. The last parameter is the number of others to keep. */
export const END_OLDEST_SESSIONS = endingSessions(`(session.id in (
      select id from sessions
      where account_id = (select account_id from params) and ended_at is null and id is distinct from (select kept from params)
        and (expires_at > (select now from params)) is true
      order by coalesce(last_used_at, created_at) desc, id desc offset ?::integer
    )) is true`);

/** Run this before the sessions end: ending them locks the counter, which must be the last lock. */
export const LOCK_TOKENS = 'select from personal_tokens where account_id = ? order by row(id) for update';

/** Deletes the account's personal tokens and adds them to the list that gateways read. The last parameter is the id of one, or null. */
export const END_TOKENS = `
  with ${PARAMETERS}, ended as (
    delete from personal_tokens where account_id = (select account_id from params) and id = coalesce(?::uuid, id)
    returning id, least(expires_at, (select latest from params)) as until, expires_at > (select now from params) as was_usable
  ), ${listed('ended')}`;

/** $1 account id, $2 now, $3 id of the caller's session. The usable sessions, newest first, at most 1,000. */
export const OWN_SESSIONS: Statement = {
  name: 'auth-own-sessions',
  text: `
    select id, ${rfc3339('created_at')} as "createdAt", ${rfc3339('coalesce(last_used_at, created_at)')} as "lastUsedAt",
      ip, client, id = $3::uuid as current
    from sessions where account_id = $1::uuid and ended_at is null and (expires_at > $2::timestamptz) is true
    order by created_at desc, id desc limit 1000`,
};

/** $1 after, $2 forgotten before, $3 limit. Rows and head come from one snapshot. */
export const ENDED_SESSIONS: Statement = {
  name: 'auth-ended-sessions',
  text: `
    select counter.last::float8 as head, ended.sequence::float8, ended.session_id as "sessionId",
      floor(extract(epoch from ended.until))::float8 as until
    from ended_session_counter counter
    left join lateral (
      select sequence, session_id, until from ended_sessions
      where sequence > $1::bigint and until > $2::timestamptz
      order by sequence limit $3::integer
    ) ended on true
    order by ended.sequence`,
};

/**
 * Parameters: $1 ids of sessions or personal tokens, $2 when each was used. Writes only uses at least a minute after the
 * last one, and skips locked rows until their next use, so that gateways never wait for each other. Looks each row up, because a
 * join may read the whole table.
 */
const noteUsesOf = (table: string, isUsable: string): Statement => ({
  name: `auth-note-uses-of-${table}`,
  text: `
    with due as (
      select target.location, used.at from unnest($1::uuid[], $2::timestamptz[]) used (id, at), lateral (
        select ctid as location from ${table} where id = used.id and ${isUsable}
          and (last_used_at is null or used.at >= last_used_at + interval '1 minute')
        for update skip locked
      ) target
    )
    update ${table} set last_used_at = due.at from due where ${table}.ctid = due.location`,
});

export const NOTE_SESSION_USES = noteUsesOf(
  'sessions',
  `ended_at is null and used.at >= created_at + interval '1 minute'`,
);
export const NOTE_TOKEN_USES = noteUsesOf('personal_tokens', 'true');
