import type { Mail } from '@taskmesh/mail';
import { emailKey } from '../accounts/email-key.ts';
import type { Outbox } from '../mails/mail-worker.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import type { CommonParts } from '../common-parts.ts';
import type { AccountMail } from './change.entities.ts';
import { addressInUseMail, CHANGE_MAILS, confirmEmailMail, EMAIL_TOKEN_LIFETIME_MINUTES } from './change-mails.ts';
import type { ChangeRepository } from './change.repository.ts';

export interface ChangesOutboxDeps extends CommonParts {
  repository: ChangeRepository;
  publicUrl: string;
}

/** Mails about changes. Whether an address is taken is checked only here, where no response time can reveal it. */
export function createChangesOutbox(deps: ChangesOutboxDeps): Outbox<AccountMail> {
  const { inTransaction, repository, accounts, limits, publicUrl, clock } = deps;

  /** Undefined when the change was withdrawn meanwhile. */
  const storeToken = (mail: AccountMail, accountId: string): Promise<string | undefined> =>
    inTransaction(async (transaction) => {
      // The account first, as every change of it does: two that go the other way round would stop each other.
      if (!(await transaction.lockAccount(accountId)) || !(await transaction.lockMail(mail.id))) return undefined;
      const { token, hash } = createOpaqueToken();
      const createdAt = new Date(clock.now());
      const expiresAt = new Date(createdAt.getTime() + EMAIL_TOKEN_LIFETIME_MINUTES * 60_000);
      transaction.addEmailToken({ hash, accountId, email: mail.recipient, createdAt, expiresAt });
      return token;
    });

  const confirmation = async (mail: AccountMail): Promise<Mail | undefined> => {
    const { recipient: to, accountId } = mail;
    if (!accountId) return undefined;
    const owner = (await accounts.findByEmail(to))?.account;
    if (owner && owner.id !== accountId) return addressInUseMail(owner.email);
    const token = await storeToken(mail, accountId);
    return token === undefined ? undefined : confirmEmailMail({ to, token, publicUrl });
  };

  return {
    what: 'mail about an account',
    ...repository.mails,
    async compose(mail) {
      if (mail.kind === 'email.confirm') return confirmation(mail);
      const { recipient: to, createdAt: time, ip = null } = mail;
      // Counted once, however often it is tried.
      if (mail.attempts === 1 && !(await limits.allowNotice(emailKey(to) ?? to))) return undefined;
      return CHANGE_MAILS[mail.kind]({ to, time, ip, publicUrl });
    },
    finish: ({ id }) => repository.mails.remove(id),
  };
}
