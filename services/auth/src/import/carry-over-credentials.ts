import { mirrorRows, type MirroredTable, type Statement, type Stores } from '@taskmesh/store';
import { ACCESS_TOKEN_MAX_TTL_S } from '@taskmesh/identity';
import { forgottenBefore } from '../sessions/ended-session.repository.ts';

const COUNTER: Statement = {
  name: 'import-counter',
  text: 'select last::text as last from public.ended_session_counter',
};

/** $1 the last sequence */
const SET_COUNTER: Statement = {
  name: 'import-set-counter',
  text: 'update public.ended_session_counter set last = $1::bigint',
};

/** In the live store. $1 ids, $2 the time before which ended sessions are forgotten. `until` is SQL, and null for those already ended. */
const acceptedUntil = (name: string, until: string): Statement => ({
  name: `import-accepted-${name}`,
  text: `
    select json_agg(r)::text as rows
    from (select id, ${until} as until from public.${name} where id = any ($1::uuid[]) and ${until} > $2::timestamptz) r`,
});

/** $1 rows, $2 the latest useful `until` */
const LIST_ENDED: Statement = {
  name: 'import-list-ended',
  text: `
    with gone as (
      select id, least(until, $2::timestamptz) as until, row_number() over (order by id) as position
      from json_to_recordset($1::json) r (id uuid, until timestamptz)
    ), counter as (
      update public.ended_session_counter set last = last + (select count(*) from gone)
      returning last - (select count(*) from gone) as before
    )
    insert into public.ended_sessions (sequence, session_id, until)
    select before + position, id, until from gone, counter
    on conflict (session_id) do nothing`,
};

const OF_ACCOUNT = { column: 'account_id', table: 'accounts' } as const;

const OTHERS: MirroredTable[] = [
  { name: 'refresh_tokens', key: 'hash', keyType: 'text', owner: { column: 'session_id', table: 'sessions' } },
  { name: 'reset_tokens', key: 'hash', keyType: 'text', owner: OF_ACCOUNT },
  { name: 'email_tokens', key: 'hash', keyType: 'text', owner: OF_ACCOUNT },
  /** Also the last mails of accounts that are gone. */
  { name: 'account_mails', key: 'id', keyType: 'uuid', owner: OF_ACCOUNT },
  { name: 'recovery_requests', key: 'id', keyType: 'uuid' },
  { name: 'pending_sign_ins', key: 'hash', keyType: 'text' },
  { name: 'sign_in_codes', key: 'hash', keyType: 'text' },
];

/**
 * Copies what a restore must not undo, for the accounts in `to`. A repetition copies only what has changed since.
 * Credentials whose account is gone are listed as ended, because gateways would still accept them.
 */
export async function copySessions(stores: Stores, now: Date): Promise<void> {
  const { from, to } = stores;
  const latest = new Date(now.getTime() + ACCESS_TOKEN_MAX_TTL_S * 1_000);
  const copyCredentials = (name: string, until: string) =>
    mirrorRows(stores, {
      ...{ name, key: 'id', keyType: 'uuid', owner: OF_ACCOUNT },
      async onOrphans(ids) {
        const [accepted] = await from.run<{ rows: string | null }>(acceptedUntil(name, until), [
          ids,
          forgottenBefore(now.getTime()),
        ]);
        if (accepted?.rows) await to.run(LIST_ENDED, [accepted.rows, latest]);
      },
    });
  // Also removes what an earlier call has listed.
  await mirrorRows(stores, { name: 'ended_sessions', key: 'sequence', keyType: 'bigint' });
  const [counter] = await from.run<{ last: string }>(COUNTER);
  await to.run(SET_COUNTER, [counter?.last ?? '0']);
  await copyCredentials('sessions', 'case when ended_at is null then tokens_until end');
  await copyCredentials('personal_tokens', 'expires_at');
  for (const table of OTHERS) await mirrorRows(stores, table);
}
