import type { Mail } from '@taskmesh/mail';
import type { Account } from '../accounts/account.entity.ts';
import { emailKey } from '../accounts/email-key.ts';
import type { AuditKind } from '../audit/audit-entry.entity.ts';
import type { AccountMail } from '../changes/change.entities.ts';
import type { CommonParts } from '../common-parts.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import type { RecoveryRequest } from '../recovery/recovery.entities.ts';
import { addressInUseMail, CHANGE_MAILS, confirmEmailMail, recoveryMail, TOKEN_MINUTES } from './mail-texts.ts';
import type { Outbox } from './mail-worker.ts';

/** Creates a token for a mail, and the columns to store for it. */
function newToken(nowMs: number, minutes: number) {
  const { token, hash } = createOpaqueToken();
  return { token, row: { hash, createdAt: new Date(nowMs), expiresAt: new Date(nowMs + minutes * 60_000) } };
}

/** Recovery mails. Whether the address has an account is checked only here, where no response time can reveal it. */
export function createRecoveryOutbox(common: CommonParts): Outbox<RecoveryRequest> {
  const { inTransaction, mails, accounts, publicUrl, clock } = common;

  const accountAt = async ({ emailKey: key }: RecoveryRequest) => (await accounts.findByKey(key))?.account;

  const factOf = ({ ip, requestId }: RecoveryRequest, account: Account, kind: AuditKind) => ({
    kind,
    at: new Date(clock.now()),
    accountId: account.id,
    origin: { ip: ip ?? null, requestId },
  });

  /** Returns undefined if the account's address has changed, whose readers must not get in, or if its password has. */
  const storeToken = (request: RecoveryRequest, account: Account): Promise<string | undefined> =>
    inTransaction(async (transaction) => {
      if ((await transaction.lockAccount(account.id))?.emailKey !== request.emailKey) return undefined;
      if (!(await transaction.lockRecovery(request.id))) return undefined;
      const { token, row } = newToken(clock.now(), TOKEN_MINUTES.recovery);
      transaction.addResetToken({ ...row, accountId: account.id });
      if (request.attempts === 1) transaction.record(factOf(request, account, 'recovery.requested'));
      return token;
    }, account.id);

  return {
    what: 'recovery mail',
    ...mails.recoveryMails,
    async compose(request) {
      const account = await accountAt(request);
      const token = account && (await storeToken(request, account));
      return token && account ? recoveryMail({ to: account.email, token, publicUrl }) : undefined;
    },
    async finish(request) {
      const account = await accountAt(request);
      await inTransaction(async (transaction) => {
        await transaction.removeRecovery(request.id);
        if (account) transaction.record(factOf(request, account, 'recovery.mail_sent'));
      });
    },
  };
}

/** Mails about changes. Whether an address is taken is checked only here, where no response time can reveal it. */
export function createChangesOutbox(common: CommonParts): Outbox<AccountMail> {
  const { inTransaction, mails, accounts, limits, publicUrl, clock } = common;

  /** Returns undefined if the change was cancelled meanwhile. */
  const storeToken = (mail: AccountMail, accountId: string): Promise<string | undefined> =>
    inTransaction(async (transaction) => {
      // Locks the account first, like every other change: two transactions that lock in opposite orders would deadlock.
      if (!(await transaction.lockAccount(accountId)) || !(await transaction.lockMail(mail.id))) return undefined;
      const { token, row } = newToken(clock.now(), TOKEN_MINUTES.confirmation);
      transaction.addEmailToken({ ...row, accountId, email: mail.recipient });
      return token;
    }, accountId);

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
    ...mails.changeMails,
    async compose(mail) {
      if (mail.kind === 'email.confirm') return confirmation(mail);
      const { recipient: to, createdAt: time, ip = null } = mail;
      // Counts a mail once, no matter how many attempts it takes.
      if (mail.attempts === 1 && !(await limits.allowNotice(emailKey(to) ?? to))) return undefined;
      return CHANGE_MAILS[mail.kind]({ to, time, ip, publicUrl });
    },
    finish: ({ id }) => mails.changeMails.remove(id),
  };
}
