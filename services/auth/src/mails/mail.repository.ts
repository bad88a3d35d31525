import type { EntityName } from '@mikro-orm/core';
import type { Database, Statement } from '@taskmesh/store';
import { AccountEntity } from '../accounts/account.entity.ts';
import { CLAIM_MAIL, CLAIM_RECOVERY, REQUEST_RECOVERY } from '../accounts/account.statements.ts';
import { ACCOUNT_MAIL_KINDS, AccountMailEntity, EmailTokenEntity } from '../changes/change.entities.ts';
import { RecoveryRequestEntity, ResetTokenEntity, type RecoveryRequest } from '../recovery/recovery.entities.ts';
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

    findAccountByResetToken: (hash: string, now: Date) =>
      database.retry(async (em) => {
        const token = await em.findOne(ResetTokenEntity, { hash, expiresAt: { $gt: now } });
        return token && em.findOne(AccountEntity, token.accountId);
      }),
    findEmailToken: (hash: string, now: Date) =>
      database.retry((em) => em.findOne(EmailTokenEntity, { hash, expiresAt: { $gt: now } })),
  };
}
