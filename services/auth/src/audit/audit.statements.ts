import { BATCH } from '../housekeeping.statements.ts';

/** Allows deletions from the audit trail until the end of the transaction. */
export const MARK_HOUSEKEEPING = `select set_config('taskmesh.audit_housekeeping', 'on', true)`;

/** Parameter: account id. Removes at most a batch. */
export const ERASE_TRAIL = `
  delete from audit_log where ctid = any (array(
    select ctid from audit_log where account_id = ?::uuid order by id limit ${BATCH}
  ))`;
