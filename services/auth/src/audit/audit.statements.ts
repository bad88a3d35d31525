/** Allows deletions from the audit trail until the end of the transaction. */
export const IS_HOUSEKEEPING = `select set_config('taskmesh.audit_housekeeping', 'on', true)`;
