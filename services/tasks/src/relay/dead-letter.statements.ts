import { rfc3339, type Statement } from '@taskmesh/store';
import { REPLAYS_CHANNEL } from './relay.statements.ts';

const NOTED_AGAIN = 'on conflict (fingerprint) do update set reason = excluded.reason, died_at = now()';

/** $1: the change's id, $2: reason. Marks the change as published, so that later ones can follow. */
export const MOVE_TO_DEAD_LETTERS: Statement = {
  name: 'relay-dead-letter',
  text: `
    with dead_lettered as (
      update changes set published_at = now() where id = $1::bigint and published_at is null
      returning id, owner_id, sequence
    )
    insert into dead_letters (source, fingerprint, change_id, owner_id, sequence, reason)
    select 'relay', 'change ' || id, id, owner_id, sequence, $2 from dead_lettered
    ${NOTED_AGAIN}`,
};

/** $1: fingerprint, $2: owner or null, $3: sequence or null, $4: reason, $5: record, $6: maximum number of rows. Skips closed owners. */
export const NOTE_UNREADABLE: Statement = {
  name: 'dead-letters-note-unreadable',
  text: `
    insert into dead_letters (source, fingerprint, change_id, owner_id, sequence, reason, record)
    select 'gateway', $1,
      (select id from changes where owner_id = $2::uuid and sequence = $3::bigint), $2::uuid, $3::bigint, $4, $5
    where (select count(*) from (select 1 from dead_letters where source = 'gateway' limit $6::int) counted) < $6::int
      and not exists (select 1 from feeds where owner_id = $2::uuid and ends_at is not null)
    ${NOTED_AGAIN}`,
};

/** $1: the last id of the previous page, $2: limit. Looks each change up, because a join may compare each letter with each change. */
export const LIST: Statement = {
  name: 'dead-letters-list',
  text: `
    select d.id::text, d.source, d.change_id::text as "changeId", d.owner_id as "ownerId", d.sequence::text,
      d.reason, d.record, ${rfc3339('d.died_at')} as "diedAt",
      (select true from changes where id = d.change_id) is true as "canReplay"
    from dead_letters d where d.id > $1::bigint order by d.id limit $2`,
};

/** The letters with the ids in $1, or all. Without `or`, the server looks them up instead of comparing each letter with each id. */
const CHOSEN = 'id = any(coalesce($1::bigint[], array(select id from dead_letters)))';

/**
 * $1: ids, or null for all. Marks the changes as unpublished, so that the relays publish them again. `is true` has the server look
 * up replayed changes in a hash table.
 */
export const REPLAY: Statement = {
  name: 'dead-letters-replay',
  text: `
    with chosen as materialized (
      select id, change_id from dead_letters where ${CHOSEN}
    ), replayed as (
      update changes set published_at = null where id = any(array(select change_id from chosen)) returning id
    ), deleted as (
      delete from dead_letters
      where id = any(array(select id from chosen where (change_id in (select id from replayed)) is true))
      returning 1
    )
    select count(*)::int as count, pg_notify('${REPLAYS_CHANNEL}', '') from deleted`,
};

/** $1: ids, or null for all */
export const DISCARD: Statement = {
  name: 'dead-letters-discard',
  text: `
    with deleted as (delete from dead_letters where ${CHOSEN} returning 1)
    select count(*)::int as count from deleted`,
};

export const COUNT: Statement = {
  name: 'dead-letters-count',
  text: 'select source, count(*)::int as count from dead_letters group by source',
};
