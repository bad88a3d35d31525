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
import type { QueuedMail, Outbox } from './mail-worker.ts';

interface Row extends QueuedMail {
  nextAttemptAt: Date;
}

/** Reads and writes the queues of mails, and finds the accounts of mailed tokens. */
export function createMailRepository(database: Database) {
  /** The queue stored in a table. `extraParameters` contains the additional parameters of `claim`. */
  const queueOf = <Waiting extends Row>(
    entity: EntityName<Waiting>,
    claim: Statement,
    ...extraParameters: unknown[]
  ): Pick<Outbox<Waiting>, 'claim' | 'find' | 'postpone' | 'remove'> => {
    const rows = entity as EntityName<Row>;
    return {
      async claim(now, until) {
        const [claimed] = await database.run<{ id: string }>('write', claim, [now, until, ...extraParameters]);
        return claimed?.id;
      },
      find: (id) => database.retry((em) => em.findOne(rows, { id })) as Promise<Waiting | null>,
      postpone: (id, nextAttemptAt) => database.retry((em) => em.nativeUpdate(rows, { id }, { nextAttemptAt })),
      remove: (id) => database.retry((em) => em.nativeDelete(rows, { id })),
    };
  };

  return {
    recoveryMails: queueOf(RecoveryRequestEntity, CLAIM_RECOVERY),
    changeMails: queueOf(AccountMailEntity, CLAIM_MAIL, ACCOUNT_MAIL_KINDS),

    async requestRecovery(request: Omit<RecoveryRequest, 'attempts' | 'nextAttemptAt'>) {
      const { id, emailKey, ip, requestId, createdAt } = request;
      await database.run('write', REQUEST_RECOVERY, [id, emailKey, ip, requestId, createdAt]);
    },

    /** The account of a valid token. Anyone can try many tokens, so one `caller` may use only a few connections at once. */
    async findAccountByResetToken(hash: string, now: Date, caller: string) {
      const [row] = await database.run<{ id: string; email: string }>('read', FIND_RESET_TOKEN, [hash, now], caller);
      return row;
    },
    /** The account of a valid token that changes its address. */
    async findAccountByEmailToken(hash: string, now: Date, caller: string): Promise<string | undefined> {
      const [row] = await database.run<{ id: string }>('read', FIND_EMAIL_TOKEN, [hash, now], caller);
      return row?.id;
    },
  };
}
