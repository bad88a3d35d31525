import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { Clock, Ids } from '@taskmesh/service';
import { changePasswordInput, parseInput } from '@taskmesh/contracts';
import type { SignedIn } from '../accounts/account-change.repository.ts';
import { wrongPassword } from '../accounts/account.errors.ts';
import { emailKey } from '../accounts/email-key.ts';
import type { PasswordCheckService } from '../accounts/password-check.service.ts';
import type { Limits } from '../rate-limits.ts';
import type { Hasher } from '../passwords/hasher.ts';
import type { PasswordRules } from '../passwords/password-rules.ts';
import { lockOwner } from '../sessions/lock-owner.ts';
import type { ChangeRepository } from './change.repository.ts';

export interface PasswordChangeService {
  /**
   * Sets the password of a user who knows the current one, ends all their other sessions, and informs them by mail.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  change(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
}

export interface PasswordChangeDeps {
  repository: ChangeRepository;
  check: PasswordCheckService;
  hasher: Hasher;
  rules: PasswordRules;
  limits: Limits;
  clock: Clock;
  ids: Ids;
  /** Wakes the mail worker. */
  onMail: () => void;
}

export function createPasswordChangeService(deps: PasswordChangeDeps): PasswordChangeService {
  const { repository, check, hasher, rules, limits, clock, ids, onMail } = deps;

  return {
    async change(user, input, origin) {
      const { userId, sessionId } = user;
      const { currentPassword, newPassword } = parseInput(changePasswordInput, input);
      rules.check(newPassword, 'newPassword');
      const known = await check.confirm(userId, currentPassword, 'currentPassword', origin);
      rules.checkAgainst(newPassword, 'newPassword', known.account.email);
      await limits.countChange(userId, 'password');
      const passwordHash = await hasher.hash(newPassword, origin.ip);
      // With the account locked, the later of two changes fails the version check, and no login opens a session in between.
      const ended = await repository.inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, user);
        if (account.passwordVersion !== known.passwordVersion) throw wrongPassword('currentPassword');
        const now = new Date(clock.now());
        account.passwordHash = passwordHash;
        account.passwordVersion++;
        account.updatedAt = now;
        await transaction.revokeChanges(userId);
        const fact = { kind: 'password.changed', at: now, accountId: userId, origin } as const;
        transaction.record({ ...fact, sessionId });
        transaction.addMail({ ...fact, id: ids.next(), recipient: account.email });
        const { ended: others } = await transaction.endAllSessions({ accountId: userId, kept: sessionId, now });
        return others;
      }, userId);
      onMail();
      await limits.forgetFailedLogins(emailKey(known.account.email) ?? '', origin.ip);
      return ended;
    },
  };
}
