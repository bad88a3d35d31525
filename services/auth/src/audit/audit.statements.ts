/** Allows deletions from the audit trail until the end of the transaction. */
export const MARK_HOUSEKEEPING = `select set_config('taskmesh.audit_housekeeping', 'on', true)`;

/** Entries per statement, so that each ends well within the statement timeout. */
export const ERASE_BATCH_SIZE = 1_000;

/**
 * Parameters: account id, last id of the previous batch. Removes a batch of the account's entries, oldest first, and returns their
 * number and the last id. Without that id, each batch would rescan the rows that the same transaction has already removed.
 */
export const ERASE_TRAIL = `
  with gone as (
    delete from audit_log where id = any (array(
      select id from audit_log where account_id = ?::uuid and id > ?::bigint order by id limit ${ERASE_BATCH_SIZE}
    )) returning id
  )
  select count(*)::integer as count, max(id)::text as last from gone`;
