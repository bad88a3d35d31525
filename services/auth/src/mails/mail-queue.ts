import type { EntityName } from '@mikro-orm/core';
import type { Database, Statement } from '@taskmesh/store';
import type { Letter, Outbox } from './mail-worker.ts';

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

export type MailQueue<Waiting extends Letter> = Pick<Outbox<Waiting>, 'claim' | 'find' | 'postpone' | 'remove'>;

interface Row extends Letter {
  nextAttemptAt: Date;
}

/** The letters of a table; `values` are the further parameters of `claim`. */
export function createMailQueue<Waiting extends Row>(
  database: Pick<Database, 'run' | 'retry'>,
  entity: EntityName<Waiting>,
  { claim, values = [] }: { claim: Statement; values?: unknown[] },
): MailQueue<Waiting> {
  const rows = entity as EntityName<Row>;
  return {
    async claim(now, until) {
      const [claimed] = await database.run<{ id: string }>('write', claim, [now, until, ...values]);
      return claimed?.id;
    },
    find: (id) => database.retry((em) => em.findOne(rows, { id })) as Promise<Waiting | null>,
    postpone: (id, nextAttemptAt) => database.retry((em) => em.nativeUpdate(rows, { id }, { nextAttemptAt })),
    remove: (id) => database.retry((em) => em.nativeDelete(rows, { id })),
  };
}
