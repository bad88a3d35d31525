import { forgotPasswordInput, parseInput, resetPasswordInput } from '@taskmesh/contracts';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { emailKey } from '../accounts/email-key.ts';
import { mailedTokenUnusable } from '../auth.errors.ts';
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
      const known = await mails.findAccountByResetToken(hash, new Date(clock.now()), callerOf(origin.ip));
      if (!known) throw mailedTokenUnusable();
      rules.check(newPassword, 'newPassword', known.email);
      const passwordHash = await hasher.hash(newPassword, origin.ip);
      const now = new Date(clock.now());
      const fact = { at: now, accountId: known.id, origin };
      // Locks the account first: the later of two resets finds the token deleted, and no login opens a session in between.
      const ended = await inTransaction(async (transaction) => {
        const account = await transaction.lockAccount(known.id);
        const found = await transaction.findResetToken(hash, known.id, now);
        if (!account || !found) throw mailedTokenUnusable();
        account.passwordHash = passwordHash;
        account.hasPassword = true;
        account.passwordVersion++;
        account.updatedAt = now;
        await transaction.revokeChanges(account);
        transaction.record({ ...fact, kind: 'password.reset' });
        // A different person may have linked an identity before the account got this address.
        const linked = await transaction.lockLinked(known.id);
        const foreign = linked.filter(({ email }) => emailKey(email) !== account.emailKey);
        for (const identity of foreign) {
          transaction.remove(identity);
          transaction.record({ ...fact, kind: 'identity.unlinked' });
        }
        if (foreign.length > 0)
          transaction.addMail({ ...fact, id: ids.next(), kind: 'identity.unlinked', recipient: account.email });
        return transaction.endEverything(known.id, now);
      }, known.id);
      await limits.forgetFailedLogins(emailKey(known.email) ?? '', origin.ip);
      await limits.forgetSessions(known.id);
      return ended;
    },
  };
}
