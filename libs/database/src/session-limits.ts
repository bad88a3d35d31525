/** SQL: the names of what an operator may set for sessions in general; older servers have only some of them. */
export const SESSION_LIMITS = `select name from pg_catalog.pg_settings
  where name in ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`;

/** SQL: lifts them in a session with a transaction or a pause that lasts as long as its work. */
export const LIFT_LIMITS = `select pg_catalog.set_config(name, '0', false) from (${SESSION_LIMITS}) limits`;
