import type { Statement, Stores } from '@taskmesh/store';

const BATCH = 5_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** $1 the last id of the batch before */
const LINKED: Statement = {
  name: 'import-linked-identities',
  text: `
    select json_agg(batch)::text as rows, max(batch.id::text) as last
    from (select * from public.linked_identities where id > $1::uuid order by id limit ${BATCH}) batch`,
};

/**
 * $1 restored rows. An identity that the living store lacks was unlinked if its account's trail has such a later entry,
 * or may have had one: entries of that time have been cleared since.
 */
const UNLINKED: Statement = {
  name: 'import-unlinked-identities',
  text: `
    select r.id::text as id from json_populate_recordset(null::public.linked_identities, $1::json) r
    where not exists (select from public.linked_identities living where living.id = r.id)
      and (
        exists (
          select from public.audit_log entry
          where entry.account_id = r.account_id and entry.kind = 'identity.unlinked' and entry.at >= r.created_at
        )
        or r.created_at < (select min(at) from public.audit_log having min(id) > 1)
        and exists (select from public.accounts living where living.id = r.account_id)
      )`,
};

/** $1 ids */
const REMOVE: Statement = {
  name: 'import-remove-unlinked',
  text: 'delete from public.linked_identities where id = any($1::uuid[])',
};

/** Removes identities from `to` that were unlinked since: a way into an account that was closed stays closed. */
export async function removeUnlinkedIdentities({ from, to }: Stores): Promise<void> {
  for (let last: string | null = BEFORE_ALL; last !== null;) {
    const batches: { rows: string | null; last: string | null }[] = await to.run(LINKED, [last]);
    const [batch] = batches;
    last = batch?.last ?? null;
    if (last === null) return;
    const unlinked = await from.run<{ id: string }>(UNLINKED, [batch?.rows]);
    if (unlinked.length > 0) await to.run(REMOVE, [unlinked.map(({ id }) => id)]);
  }
}
