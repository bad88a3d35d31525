import { badUserInput, forgotPasswordInput, parseInput, resetPasswordInput } from '@taskmesh/contracts';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { AccountTransaction } from '../accounts/account-transaction.repository.ts';
import { emailKey } from '../accounts/email-key.ts';
import { hashOf } from '../opaque-token.ts';
import { callerOf } from '../rate-limits.ts';
import type { CommonParts } from '../common-parts.ts';

export interface RecoveryService {
  /**
   * Puts a mail into the outbox, whether or not there is such an account: neither the result nor its timing reveals this.
   * @throws AppError BAD_USER_INPUT for an invalid address, RATE_LIMITED
   */
  request(email: string, origin: RequestOrigin): Promise<void>;
  /**
   * Sets the password and ends all sessions and personal tokens of the account. A rejected password does not use up the token.
   * Removes identities that were linked with another address.
   * @throws AppError BAD_USER_INPUT
   */
  reset(input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
}

export function createRecoveryService(common: CommonParts): RecoveryService {
  const { inTransaction, mails, hasher, rules, limits, clock, ids } = common;

  return {
    async request(address, { ip, requestId }) {
      const { email } = parseInput(forgotPasswordInput, { email: address });
      const key = emailKey(email) ?? email;
      await limits.countRecovery(ip);
      if (!(await limits.allowRecoveryMail(key))) return;
      await mails.requestRecovery({ id: ids.next(), emailKey: key, ip, requestId, createdAt: new Date(clock.now()) });
    },
    async reset(input, origin) {
      const { token, newPassword } = parseInput(resetPasswordInput, input);
      const hash = hashOf(token);
      const account = await mails.findAccountByResetToken(hash, new Date(clock.now()), callerOf(origin.ip));
      if (!account) throw resetTokenUnusable();
      rules.check(newPassword, 'newPassword', account.email);
      const passwordHash = await hasher.hash(newPassword, origin.ip);
      const set = { hash, accountId: account.id, passwordHash, now: new Date(clock.now()), origin, ids };
      const ended = await inTransaction((transaction) => setPassword(transaction, set), account.id);
      await limits.forgetFailedLogins(emailKey(account.email) ?? '', origin.ip);
      await limits.forgetSessions(account.id);
      return ended;
    },
  };
}

interface NewPassword {
  /** The hash of the token. */
  hash: string;
  accountId: string;
  passwordHash: string;
  now: Date;
  origin: RequestOrigin;
  ids: CommonParts['ids'];
}

/** Locks the account first: the later of two resets finds the token deleted, and no login opens a session in between. */
async function setPassword(
  transaction: AccountTransaction,
  { hash, accountId, passwordHash, now, origin, ids }: NewPassword,
): Promise<EndedSession[]> {
  const account = await transaction.lockAccount(accountId);
  const token = await transaction.findResetToken(hash, accountId, now);
  if (!account || !token) throw resetTokenUnusable();
  account.passwordHash = passwordHash;
  account.hasPassword = true;
  account.passwordVersion++;
  account.updatedAt = now;
  await transaction.revokeChanges(account);
  const fact = { at: now, accountId, origin };
  transaction.record({ ...fact, kind: 'password.reset' });
  // A different person may have linked an identity before the account got this address.
  const foreignIdentities = (await transaction.lockLinked(accountId)).filter(
    ({ email }) => emailKey(email) !== account.emailKey,
  );
  for (const linked of foreignIdentities) {
    transaction.remove(linked);
    transaction.record({ ...fact, kind: 'identity.unlinked' });
  }
  if (foreignIdentities.length > 0)
    transaction.addMail({ ...fact, id: ids.next(), kind: 'identity.unlinked', recipient: account.email });
  return transaction.endEverything(accountId, now);
}

/** Does not reveal whether the token is unknown, expired or used. */
const resetTokenUnusable = () =>
  badUserInput([{ path: 'token', message: 'token is not valid, was used before, or has expired.' }]);
