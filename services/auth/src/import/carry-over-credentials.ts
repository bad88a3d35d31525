import { eachBatch, mirrorRows, type MirroredTable } from '@taskmesh/pg-rows/mirror';
import type { Stores } from '@taskmesh/store';
import { ACCESS_TOKEN_MAX_TTL_S } from '@taskmesh/identity';
import { forgetBefore } from '../sessions/ended-session.repository.ts';

const COUNTER = 'select last::text as last from public.ended_session_counter';

/** $1 the last sequence */
const SET_COUNTER = 'update public.ended_session_counter set last = $1::bigint';

/** In the live store. $1 ids, $2 the time before which ended sessions are forgotten. `until` is SQL, and null for those already ended. */
const acceptedUntil = (name: string, until: string) => `
    select json_agg(r)::text as rows
    from (select id, ${until} as until from public.${name} where id = any ($1::uuid[]) and ${until} > $2::timestamptz) r`;

/** $1 rows, $2 the latest useful `until` */
const LIST_ENDED = `
    with ended as (
      select id, least(until, $2::timestamptz) as until, row_number() over (order by id) as position
      from json_to_recordset($1::json) r (id uuid, until timestamptz)
    ), counter as (
      update public.ended_session_counter set last = last + (select count(*) from ended)
      returning last - (select count(*) from ended) as before
    )
    insert into public.ended_sessions (sequence, session_id, until)
    select before + position, id, until from ended, counter
    on conflict (session_id) do nothing`;

const OF_ACCOUNT = { column: 'account_id', table: 'accounts' } as const;

const OTHER_TABLES: MirroredTable[] = [
  { name: 'refresh_tokens', key: 'hash', keyType: 'text', owner: { column: 'session_id', table: 'sessions' } },
  { name: 'reset_tokens', key: 'hash', keyType: 'text', owner: OF_ACCOUNT },
  { name: 'email_tokens', key: 'hash', keyType: 'text', owner: OF_ACCOUNT },
  /** Includes the last mails of deleted accounts. */
  { name: 'account_mails', key: 'id', keyType: 'uuid', owner: OF_ACCOUNT },
  { name: 'recovery_requests', key: 'id', keyType: 'uuid' },
  { name: 'pending_sign_ins', key: 'hash', keyType: 'text' },
  { name: 'sign_in_codes', key: 'hash', keyType: 'text' },
];

/**
 * Copies the credentials and mails that a restore must not undo, for the accounts in `to`. Another call copies only later
 * changes. Credentials whose account is not in `to` are listed as ended, because gateways would still accept them.
 */
export async function carryOverCredentials(stores: Stores, now: Date): Promise<void> {
  const { from, to } = stores;
  const latest = new Date(now.getTime() + ACCESS_TOKEN_MAX_TTL_S * 1_000);
  const copyCredentials = (name: string, until: string) =>
    mirrorRows(stores, {
      ...{ name, key: 'id', keyType: 'uuid', owner: OF_ACCOUNT },
      async onOrphans(ids) {
        const [accepted] = await from.run<{ rows: string | null }>(acceptedUntil(name, until), [
          ids,
          forgetBefore(now.getTime()),
        ]);
        if (accepted?.rows) await to.run(LIST_ENDED, [accepted.rows, latest]);
      },
    });
  // Also removes the entries that an earlier call has added.
  await mirrorRows(stores, { name: 'ended_sessions', key: 'sequence', keyType: 'bigint' });
  const [counter] = await from.run<{ last: string }>(COUNTER);
  await to.run(SET_COUNTER, [counter?.last ?? '0']);
  await copyCredentials('sessions', 'case when ended_at is null then tokens_until end');
  await copyCredentials('personal_tokens', 'expires_at');
  for (const table of OTHER_TABLES) await mirrorRows(stores, table);
}

/**
 * $1 restored rows. An identity that the live store lacks was unlinked if the account's trail has a later entry that says
 * so, or may have had one: the trail may begin later, for example because old entries were cleared.
 */
const UNLINKED = `
    select r.id::text as id from json_populate_recordset(null::public.linked_identities, $1::json) r
    where not exists (select from public.linked_identities live where live.id = r.id)
      and (
        exists (
          select from public.audit_log entry
          where entry.account_id = r.account_id and entry.kind = 'identity.unlinked' and entry.at >= r.created_at
        )
        or r.created_at < (select min(at) from public.audit_log)
        and exists (select from public.accounts live where live.id = r.account_id)
      )`;

/** Only what `UNLINKED` reads. */
const IDENTITIES = {
  name: 'linked_identities',
  key: 'id',
  keyType: 'uuid',
  columns: 'id, account_id, created_at',
} as const;

/** $1 ids */
const REMOVE_IDENTITIES = 'delete from public.linked_identities where id = any($1::uuid[])';

/** Removes identities from `to` that were unlinked since the backup: a restore must not reopen a way into an account. */
export async function removeUnlinkedIdentities({ from, to }: Stores): Promise<void> {
  await eachBatch(to, IDENTITIES, async (rows) => {
    const unlinked = await from.run<{ id: string }>(UNLINKED, [rows]);
    if (unlinked.length > 0) await to.run(REMOVE_IDENTITIES, [unlinked.map(({ id }) => id)]);
  });
}
