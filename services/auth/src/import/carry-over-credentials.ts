import { type Statement, copyRows, type CopiedTable, type Stores } from '@taskmesh/store';
import { ACCESS_TOKEN_MAX_TTL_S } from '@taskmesh/identity';
import { STORE_TABLES } from '@taskmesh/internal-api';
import { forgottenBefore } from '../sessions/ended-session.repository.ts';

const FORGET_EARLIER_COPY: Statement = {
  name: 'import-forget-earlier-copy',
  text: `truncate ${Object.entries(STORE_TABLES.auth)
    .flatMap(([table, { archived }]) => (archived === 'nothing' ? [`public.${table}`] : []))
    .join(', ')}`,
};

const COUNTER: Statement = {
  name: 'import-counter',
  text: 'select last::text as last from public.ended_session_counter',
};

/** $1 the last sequence */
const SET_COUNTER: Statement = {
  name: 'import-set-counter',
  text: 'update public.ended_session_counter set last = $1::bigint',
};

/**
 * $2 the time before which ended sessions are forgotten, $3 the latest useful `until`. Credentials whose account is
 * gone are listed as ended, because gateways would still accept them. `until` is SQL, and null for those already ended.
 */
const askedWith = (name: string, until: string): CopiedTable => ({
  ...{ name, key: 'id', keyType: 'uuid' },
  put: `
    , kept as (
      insert into public.${name} select batch.* from batch join public.accounts account on account.id = batch.account_id
    ), gone as (
      select id, least(${until}, $3::timestamptz) as until, row_number() over (order by id) as position from batch
      where ${until} > $2::timestamptz
        and not exists (select 1 from public.accounts account where account.id = batch.account_id)
    ), counter as (
      update public.ended_session_counter set last = last + (select count(*) from gone)
      returning last - (select count(*) from gone) as before
    )
    insert into public.ended_sessions (sequence, session_id, until)
    select before + position, id, until from gone, counter
    on conflict (session_id) do nothing`,
});

const sessions = askedWith('sessions', 'case when ended_at is null then tokens_until end');
const personalTokens = askedWith('personal_tokens', 'expires_at');

const refreshTokens: CopiedTable = {
  name: 'refresh_tokens',
  key: 'hash',
  keyType: 'text',
  put: `insert into public.refresh_tokens
    select batch.* from batch join public.sessions session on session.id = batch.session_id`,
};

/** A table whose rows belong to accounts. */
const ofAccounts = (name: string, key: string, keyType: CopiedTable['keyType']): CopiedTable => ({
  ...{ name, key, keyType },
  put: `insert into public.${name}
    select batch.* from batch join public.accounts account on account.id = batch.account_id`,
});

const resetTokens = ofAccounts('reset_tokens', 'hash', 'text');
const emailTokens = ofAccounts('email_tokens', 'hash', 'text');
/** Also the last mails of accounts that are gone. */
const accountMails: CopiedTable = {
  ...{ name: 'account_mails', key: 'id', keyType: 'uuid' },
  put: `insert into public.account_mails
    select batch.* from batch
    where account_id is null or exists (select 1 from public.accounts account where account.id = batch.account_id)`,
};

/** A table whose rows belong to no account: mails that have been promised, sign-ins in progress. */
const ofNoAccount = (name: string, key: string, keyType: CopiedTable['keyType']): CopiedTable => ({
  ...{ name, key, keyType },
  put: `insert into public.${name} select * from batch`,
});

const OF_NO_ACCOUNT = [
  ofNoAccount('recovery_requests', 'id', 'uuid'),
  ofNoAccount('pending_sign_ins', 'hash', 'text'),
  ofNoAccount('sign_in_codes', 'hash', 'text'),
];

/** Copies what a restore must not undo, for the accounts in `to`, replacing the result of earlier calls. */
export async function copySessions(stores: Stores, now: Date): Promise<void> {
  const { from, to } = stores;
  await to.run(FORGET_EARLIER_COPY);
  const [counter] = await from.run<{ last: string }>(COUNTER);
  await to.run(SET_COUNTER, [counter?.last ?? '0']);
  await copyRows(stores, ofNoAccount('ended_sessions', 'sequence', 'bigint'));
  const values = [forgottenBefore(now.getTime()), new Date(now.getTime() + ACCESS_TOKEN_MAX_TTL_S * 1_000)];
  await copyRows(stores, sessions, { values });
  await copyRows(stores, personalTokens, { values });
  await copyRows(stores, refreshTokens);
  await copyRows(stores, resetTokens);
  await copyRows(stores, emailTokens);
  await copyRows(stores, accountMails);
  for (const table of OF_NO_ACCOUNT) await copyRows(stores, table);
}
