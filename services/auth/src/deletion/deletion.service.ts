import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { deleteAccountInput, parseInput } from '@taskmesh/contracts';
import { lockOwner, type SignedIn } from '../accounts/account-transaction.repository.ts';
import { wrongPassword } from '../auth.errors.ts';
import { emailKey } from '../accounts/email-key.ts';
import type { CommonParts } from '../common-parts.ts';

export interface DeletionService {
  /**
   * Deletes the account if the password is right, ends its sessions and tokens, and sends a last mail. Other services learn of
   * the deletion from the account log.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  delete(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
}

export function createDeletionService({ inTransaction, check, limits, clock, ids }: CommonParts): DeletionService {
  return {
    async delete(user, input, origin) {
      const { userId } = user;
      const { password } = parseInput(deleteAccountInput, input);
      const known = await check.confirm(userId, password, 'password', origin);
      // The account is locked first, as by every other change: meanwhile no session is opened and no token created.
      const ended = await inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, user);
        if (account.passwordVersion !== known.passwordVersion) throw wrongPassword('password');
        const tokens = await transaction.lockPersonalTokens(userId);
        const now = new Date(clock.now());
        const { email: recipient, emailKey: key } = account;
        await transaction.eraseTrail(userId);
        transaction.record({ kind: 'account.deleted', at: now, accountId: userId, origin: { ...origin, ip: null } });
        transaction.addMail({ id: ids.next(), accountId: null, kind: 'account.deleted', recipient, at: now, origin });
        await transaction.removeRecoveriesOf(key);
        await transaction.appendDeleted(userId, now);
        const { ended: sessions } = await transaction.endAllSessions({ accountId: userId, now });
        const ended = [...sessions, ...(await transaction.endPersonalTokens(tokens, now))];
        await transaction.removeAccount(userId);
        return ended;
      }, userId);
      await limits.forgetFailedLogins(emailKey(known.account.email) ?? '', origin.ip);
      return ended;
    },
  };
}
