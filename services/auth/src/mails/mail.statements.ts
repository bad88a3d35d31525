import type { Statement } from '@taskmesh/database';

/** Claims the longest-waiting letter of a table (of those `which`) until $2, so that no other instance takes it, too. $1 now. */
export const claimFrom = (table: string, which = 'true'): Statement => ({
  name: `auth-claim-from-${table}`,
  text: `
    update ${table} set attempts = attempts + 1, next_attempt_at = $2::timestamptz
    where id = (
      select id from ${table} where next_attempt_at <= $1::timestamptz and ${which}
      order by next_attempt_at limit 1 for update skip locked
    )
    returning id`,
});
