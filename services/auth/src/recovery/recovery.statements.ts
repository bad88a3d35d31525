import type { Statement } from '@taskmesh/database';

/** $1 id, $2 key of the address, $3 ip, $4 request id, $5 now. Nothing here depends on whether there is an account. */
export const REQUEST_RECOVERY: Statement = {
  name: 'auth-request-recovery',
  text: `
    insert into recovery_requests (id, email_key, ip, request_id, created_at, next_attempt_at)
    values ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz)`,
};

/** Takes the one that waits longest, until $2, so that no other instance takes it too. $1 now. */
export const CLAIM_REQUEST: Statement = {
  name: 'auth-claim-recovery-request',
  text: `
    update recovery_requests set attempts = attempts + 1, next_attempt_at = $2::timestamptz
    where id = (
      select id from recovery_requests where next_attempt_at <= $1::timestamptz
      order by next_attempt_at limit 1 for update skip locked
    )
    returning id`,
};
