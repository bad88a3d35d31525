import type { Statement } from '@taskmesh/database';
import { OPENING } from '../sessions/sessions.statements.ts';

/** What is read of an account; the time as milliseconds. */
const SELECT_ACCOUNT = `
  select id, email, name, password_hash, password_version, extract(epoch from email_confirmed_at) * 1000 as confirmed_ms
  from accounts`;

export const FIND_ACCOUNT: Statement = { name: 'auth-find-account', text: `${SELECT_ACCOUNT} where id = $1` };

/** $1: the key of the address. */
export const FIND_ACCOUNT_BY_EMAIL: Statement = {
  name: 'auth-find-account-by-email',
  text: `${SELECT_ACCOUNT} where email_key = $1`,
};

/** An account and its first session. Values as `OPENING` says, then $11 email, $12 key, $13 name, $14 password hash, $15 now. */
export const SIGN_UP: Statement = {
  name: 'auth-sign-up',
  text: `with account as (
    insert into accounts (id, email, email_key, name, password_hash, email_confirmed_at, created_at, updated_at)
    values ($2::uuid, $11, $12, $13, $14, $15::timestamptz, $15::timestamptz, $15::timestamptz)
    returning id
  ), ${OPENING}`,
};

/** $1 now, $2 key of the address, $3 ip, $4 request id. The same work whether there is such an account or not. */
export const RECORD_FAILED_LOGIN: Statement = {
  name: 'auth-record-failed-login',
  text: `
    insert into audit_log (at, kind, account_id, ip, request_id)
    values ($1, 'login.failed', (select id from accounts where email_key = $2), $3, $4)`,
};
