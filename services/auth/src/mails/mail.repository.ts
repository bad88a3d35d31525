import type { EntityName } from '@mikro-orm/core';
import type { Database, Statement } from '@taskmesh/store';
import {
  CLAIM_MAIL,
  CLAIM_RECOVERY,
  FIND_EMAIL_TOKEN,
  FIND_RESET_TOKEN,
  REQUEST_RECOVERY,
} from '../accounts/account.statements.ts';
import { ACCOUNT_MAIL_KINDS, AccountMailEntity } from '../changes/change.entities.ts';
import { RecoveryRequestEntity, type RecoveryRequest } from '../recovery/recovery.entities.ts';
import type { Letter, Outbox } from './mail-worker.ts';

interface Row extends Letter {
  nextAttemptAt: Date;
}

/** The mails that wait to be sent, and the tokens that were mailed. */
export function createMailRepository(database: Database) {
  /** The letters of a table. `more` are the further parameters of `claim`. */
  const queueOf = <Waiting extends Row>(
    entity: EntityName<Waiting>,
    claim: Statement,
    ...more: unknown[]
  ): Pick<Outbox<Waiting>, 'claim' | 'find' | 'postpone' | 'remove'> => {
    const rows = entity as EntityName<Row>;
    return {
      async claim(now, until) {
        const [claimed] = await database.run<{ id: string }>('write', claim, [now, until, ...more]);
        return claimed?.id;
      },
      find: (id) => database.retry((em) => em.findOne(rows, { id })) as Promise<Waiting | null>,
      postpone: (id, nextAttemptAt) => database.retry((em) => em.nativeUpdate(rows, { id }, { nextAttemptAt })),
      remove: (id) => database.retry((em) => em.nativeDelete(rows, { id })),
    };
  };

  return {
    recoveries: queueOf(RecoveryRequestEntity, CLAIM_RECOVERY),
    aboutChanges: queueOf(AccountMailEntity, CLAIM_MAIL, ACCOUNT_MAIL_KINDS),

    async requestRecovery({
      id,
      emailKey,
      ip,
      requestId,
      createdAt,
    }: Omit<RecoveryRequest, 'attempts' | 'nextAttemptAt'>) {
      await database.run('write', REQUEST_RECOVERY, [id, emailKey, ip, requestId, createdAt]);
    },

    /** Of a valid token. Anyone may try many, so those of one `caller` use few connections at once. */
    async findAccountByResetToken(hash: string, now: Date, caller: string) {
      const [row] = await database.run<{ id: string; email: string }>('read', FIND_RESET_TOKEN, [hash, now], caller);
      return row;
    },
    /** The same for a token that changes the address. */
    async findAccountByEmailToken(hash: string, now: Date, caller: string): Promise<string | undefined> {
      const [row] = await database.run<{ id: string }>('read', FIND_EMAIL_TOKEN, [hash, now], caller);
      return row?.id;
    },
  };
}
