import { rfc3339, type Statement } from '@taskmesh/store';
import { BCRYPT } from '../passwords/hasher.ts';
import { OPENING } from '../sessions/session.statements.ts';

/* Why `lateral` and `is true`: see session.statements.ts. */

/** Selects an account, with the time in milliseconds. */
const SELECT_ACCOUNT = `
  select id, email, name, password_hash as "passwordHash", has_password as "hasPassword", password_version as "passwordVersion",
    (extract(epoch from email_confirmed_at) * 1000)::float8 as "confirmedMs"
  from accounts`;

export const FIND_ACCOUNT: Statement = { name: 'auth-find-account', text: `${SELECT_ACCOUNT} where id = $1` };

/** $1: the key of the address. */
export const FIND_ACCOUNT_BY_EMAIL: Statement = {
  name: 'auth-find-account-by-email',
  text: `${SELECT_ACCOUNT} where email_key = $1`,
};

/**
 * The last bcrypt hash before a text: of its variant, the one of the highest cost. Uses the index `accounts_bcrypt`, which ends up empty.
 * Skips hashes that the hasher does not verify.
 */
const lastBcryptHashBefore = (text: string) => `
  (select password_hash from accounts where password_hash like '$2%' and password_hash < '${text}' and password_hash ~ '${BCRYPT.source}'
    order by password_hash desc limit 1)`;

/** The bcrypt hash of the highest cost, whether its variant is `2a`, `2b` or `2y`. Not every collation has y before z. */
export const FIND_COSTLIEST_BCRYPT_HASH: Statement = {
  name: 'auth-find-costliest-bcrypt-hash',
  text: `
    select password_hash as "passwordHash" from (${['$2b', '$2y', '$3'].map(lastBcryptHashBefore).join(' union all ')}) hashes
    order by substring(password_hash from 5 for 2) desc limit 1`,
};

/** An account and its first session; no row if the address is taken. Parameters of `OPENING`, then $14 email, $15 key, $16 name, $17 password hash, $18 now. */
export const SIGN_UP: Statement = {
  name: 'auth-sign-up',
  text: `with account as (
    insert into accounts (id, email, email_key, name, password_hash, email_confirmed_at, created_at, updated_at)
    values ($2::uuid, $14, $15, $16, $17, $18::timestamptz, $18::timestamptz, $18::timestamptz)
    on conflict (email_key) do nothing -- PostgreSQL's log would show the address with an error
    returning id
  ), ${OPENING}`,
};

/** $1 id, $2 the current hash, $3 the new one. */
export const REPLACE_HASH: Statement = {
  name: 'auth-replace-hash',
  text: 'update accounts set password_hash = $3 where id = $1 and password_hash = $2',
};

/** $1 key of the address. The IPs of the newest sign-ins, which may all be of one busy program, and of the active sessions. */
export const SIGN_IN_IPS: Statement = {
  name: 'auth-sign-in-ips',
  text: `
    with account as materialized (select id from accounts where email_key = $1)
    (select ip from audit_log
      where account_id = (select id from account) and kind in ('account.created', 'session.opened')
      order by id desc limit 100)
    union
    select ip from sessions where account_id = (select id from account) and ended_at is null and expires_at > now()`,
};

/** $1 now, $2 key of the address, $3 ip, $4 request id. Takes the same time with and without an account. */
export const RECORD_FAILED_LOGIN: Statement = {
  name: 'auth-record-failed-login',
  text: `
    insert into audit_log (at, kind, account_id, ip, request_id)
    values ($1, 'login.failed', (select id from accounts where email_key = $2), $3, $4)`,
};

/** $1 id, $2 key of the address, $3 ip, $4 request id, $5 now. Does not depend on whether there is an account. */
export const REQUEST_RECOVERY: Statement = {
  name: 'auth-request-recovery',
  text: `
    insert into recovery_requests (id, email_key, ip, request_id, created_at, next_attempt_at)
    values ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz)`,
};

/** $1 hash, $2 now. */
export const CONSUME_PENDING_SIGN_IN: Statement = {
  name: 'auth-take-pending-sign-in',
  text: 'delete from pending_sign_ins where hash = $1 and (expires_at > $2::timestamptz) is true returning challenge, return_to as "returnTo"',
};

/** $1 hash, $2 now. */
export const FIND_RESET_TOKEN: Statement = {
  name: 'auth-find-reset-token',
  text: `
    select account.id, account.email from reset_tokens token, lateral (select id, email from accounts where id = token.account_id limit 1) account
    where token.hash = $1 and (token.expires_at > $2::timestamptz) is true`,
};

/** $1 hash, $2 now. */
export const FIND_EMAIL_TOKEN: Statement = {
  name: 'auth-find-email-token',
  text: 'select account_id as id from email_tokens where hash = $1 and (expires_at > $2::timestamptz) is true',
};

/** $1 hash, $2 now. Times are in Unix seconds. */
export const FIND_TOKEN: Statement = {
  name: 'auth-find-personal-token',
  text: `
    select token.id, token.scope, account.id as "userId", account.email,
      floor(extract(epoch from token.created_at))::float8 as "createdAt",
      floor(extract(epoch from token.expires_at))::float8 as "expiresAt"
    from personal_tokens token, lateral (select id, email from accounts where id = token.account_id limit 1) account
    where token.hash = $1 and (token.expires_at > $2::timestamptz) is true`,
};

/** $1 account id, $2 now. The usable tokens, newest first. */
export const TOKENS_OF_ACCOUNT: Statement = {
  name: 'auth-tokens-of-account',
  text: `
    select id, name, upper(scope) as scope, ${rfc3339('created_at')} as "createdAt",
      ${rfc3339('expires_at')} as "expiresAt", ${rfc3339('last_used_at')} as "lastUsedAt"
    from personal_tokens where account_id = $1::uuid and (expires_at > $2::timestamptz) is true
    order by created_at desc, id desc`,
};

/** $1 account id. Newest first. */
export const IDENTITIES_OF_ACCOUNT: Statement = {
  name: 'auth-identities-of-account',
  text: `
    select id, issuer, email, ${rfc3339('created_at')} as "createdAt",
      ${rfc3339('last_used_at')} as "lastUsedAt"
    from linked_identities where account_id = $1::uuid order by created_at desc, id desc`,
};

/** $1 account id, $2 limit, $3 the id below which entries are listed, or null. Newest first. */
export const ENTRIES_OF_ACCOUNT: Statement = {
  name: 'auth-entries-of-account',
  text: `
    select id::text, ${rfc3339('at')} as at, kind, session_id as "sessionId", ip
    from audit_log where account_id = $1::uuid and id < coalesce($3::bigint, 9223372036854775807)
    order by audit_log.id desc limit $2::integer`,
};

/** Claims the mail that has been due the longest (among those matching `which`) until $2, so that no other instance sends it. $1 now. */
const claimFrom = (table: string, which = 'true'): Statement => ({
  name: `auth-claim-from-${table}`,
  text: `
    update ${table} set attempts = attempts + 1, next_attempt_at = $2::timestamptz
    where id = (
      select id from ${table} where next_attempt_at <= $1::timestamptz and ${which}
      order by next_attempt_at limit 1 for update skip locked
    )
    returning id`,
});

export const CLAIM_RECOVERY = claimFrom('recovery_requests');

/** Skips unknown kinds: a newer version that runs at the same time sends them. $3 known kinds */
export const CLAIM_MAIL = claimFrom('account_mails', 'kind = any($3::text[])');
