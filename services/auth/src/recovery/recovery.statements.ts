import type { Statement } from '@taskmesh/store';

/** $1 id, $2 key of the address, $3 ip, $4 request id, $5 now. Does not depend on whether there is an account. */
export const REQUEST_RECOVERY: Statement = {
  name: 'auth-request-recovery',
  text: `
    insert into recovery_requests (id, email_key, ip, request_id, created_at, next_attempt_at)
    values ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz)`,
};
