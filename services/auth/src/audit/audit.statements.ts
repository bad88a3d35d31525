/** Within a transaction: the audit trail lets entries go. */
export const IS_HOUSEKEEPING = `select set_config('taskmesh.audit_housekeeping', 'on', true)`;
