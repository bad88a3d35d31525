import { rfc3339, type Statement } from '@taskmesh/store';

/** The first key of the advisory lock. There is one stream, so one lock. */
export const LOCK_CLASS = 7_203_002;
export const LOCK = 0;

const ENTRY = `
  state.epoch, entry.sequence::float8, entry.account_id as "accountId", entry.kind,
  ${rfc3339('entry.occurred_at')} as "occurredAt"`;

/** Parameters: account id, now. Locks the state row, so that sequences follow the order of commits. */
export const APPEND_DELETED = `
  with state as (update account_log_state set last = last + 1 returning last)
  insert into account_log (sequence, account_id, kind, occurred_at) select last, ?::uuid, 'DELETED', ?::timestamptz from state`;

/**
 * $1: epoch, $2: sequence, $3: limit. Starts from the beginning if the position is not in this log. Always returns a row;
 * if there are no entries, its sequence is null.
 */
export const ENTRIES_AFTER: Statement = {
  name: 'account-log-entries-after',
  text: `
    select state.last::float8 as head, ${ENTRY}
    from account_log_state state
    left join lateral (
      select * from account_log
      where sequence > (case when state.epoch = $1::integer and $2::bigint <= state.last then $2::bigint else 0 end)
      order by sequence limit $3::integer
    ) entry on true
    order by entry.sequence`,
};

/** $1: limit */
export const UNPUBLISHED: Statement = {
  name: 'account-log-unpublished',
  text: `
    select ${ENTRY}
    from account_log_state state, lateral (
      select * from account_log where published_at is null order by sequence limit $1::integer
    ) entry
    order by entry.sequence`,
};

/** $1: the last published sequence */
export const MARK_PUBLISHED: Statement = {
  name: 'account-log-mark-published',
  text: 'update account_log set published_at = now() where published_at is null and sequence <= $1::bigint',
};

export const BACKLOG: Statement = {
  name: 'account-log-backlog',
  text: `
    select count(*)::int as pending,
      coalesce(greatest(extract(epoch from now() - min(occurred_at)), 0), 0)::float8 as oldest_age_s
    from account_log where published_at is null`,
};

/** $1: the lowest acceptable epoch */
export const NEW_EPOCH: Statement = {
  name: 'account-log-new-epoch',
  text: 'update account_log_state set epoch = greatest(epoch + 1, $1::integer) returning epoch',
};
