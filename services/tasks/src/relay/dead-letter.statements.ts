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

/** $1: the last id of the previous page, $2: limit */
export const LIST: Statement = {
  name: 'dead-letters-list',
  text: `
    select d.id::text, d.source, d.change_id::text as "changeId", d.owner_id as "ownerId", d.sequence::text,
      d.reason, d.record, ${rfc3339('d.died_at')} as "diedAt",
      c.id is not null as "canReplay"
    from dead_letters d left join changes c on c.id = d.change_id
    where d.id > $1::bigint order by d.id limit $2`,
};

/** $1: ids, or null for all. Marks the changes as unpublished, so that the relays publish them again. */
export const REPLAY: Statement = {
  name: 'dead-letters-replay',
  text: `
    with replayed as (
      update changes c set published_at = null
      from dead_letters d where d.change_id = c.id and ($1::bigint[] is null or d.id = any($1::bigint[]))
      returning c.id
    ), gone as (
      delete from dead_letters where change_id in (select id from replayed)
        and ($1::bigint[] is null or id = any($1::bigint[]))
      returning 1
    )
    select count(*)::int as count, pg_notify('${REPLAYS_CHANNEL}', '') from gone`,
};

/** $1: ids, or null for all */
export const DISCARD: Statement = {
  name: 'dead-letters-discard',
  text: `
    with gone as (delete from dead_letters where $1::bigint[] is null or id = any($1::bigint[]) returning 1)
    select count(*)::int as count from gone`,
};

export const COUNT: Statement = {
  name: 'dead-letters-count',
  text: 'select source, count(*)::int as count from dead_letters group by source',
};
