/** SQL: the names of what an operator may set for sessions in general; older servers have only some of them. */
export const SESSION_LIMITS = `select name from pg_catalog.pg_settings
  where name in ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;
