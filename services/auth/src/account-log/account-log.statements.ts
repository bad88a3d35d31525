import { rfc3339, type Statement } from '@taskmesh/store';

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
    select state.last::float8 as head, state.epoch, entry.sequence::float8, entry.account_id as "accountId", entry.kind,
      ${rfc3339('entry.occurred_at')} as "occurredAt"
    from account_log_state state
    left join lateral (
      select * from account_log
      where sequence > (case when state.epoch = $1::integer and $2::bigint <= state.last then $2::bigint else 0 end)
      order by sequence limit $3::integer
    ) entry on true
    order by entry.sequence`,
};

/** $1: the lowest acceptable epoch */
export const NEW_EPOCH: Statement = {
  name: 'account-log-new-epoch',
  text: 'update account_log_state set epoch = greatest(epoch + 1, $1::integer) returning epoch',
};
