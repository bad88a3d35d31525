import { isUniqueViolation } from '@taskmesh/store';
import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Clock, Ids } from '@taskmesh/service';
import { changeEmailInput, confirmEmailInput, parseInput } from '@taskmesh/contracts';
import type { SignedIn } from '../accounts/account-change.repository.ts';
import { emailIsTaken, wrongPassword } from '../accounts/account.errors.ts';
import { emailKey } from '../accounts/email-key.ts';
import type { PasswordCheckService } from '../accounts/password-check.service.ts';
import type { Limits } from '../rate-limits.ts';
import { hashOf } from '../opaque-token.ts';
import { lockOwner } from '../sessions/lock-owner.ts';
import { sessionHasEnded } from '../sessions/session.errors.ts';
import { emailIsTheSame, emailTokenUnusable, ownerIsUnproven, tokenOfAnotherAccount } from './change.errors.ts';
import type { ChangeRepository } from './change.repository.ts';

export interface EmailChangeService {
  /**
   * Puts a mail to the new address into the outbox, whether or not another account has that address: neither answer nor
   * time reveals it. Replaces an earlier request, unless that address has had too many mails.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  request(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<void>;
  /**
   * Gives the account the address that the token was mailed to, and informs the former one. The token proves only that
   * somebody reads that mailbox, which is a stranger's if the address was mistyped: `user` or the password in `input` proves that the
   * account is theirs. A refusal does not use up the token.
   * @throws AppError BAD_USER_INPUT, CONFLICT, RATE_LIMITED, FORBIDDEN for a user of another account, UNAUTHENTICATED without
   * either, and when the session has ended meanwhile
   */
  confirm(user: SignedIn | undefined, input: unknown, origin: RequestOrigin): Promise<void>;
}

export interface EmailChangeDeps {
  repository: ChangeRepository;
  check: PasswordCheckService;
  limits: Limits;
  clock: Clock;
  ids: Ids;
  /** Wakes the mail worker. */
  onMail: () => void;
}

export function createEmailChangeService(deps: EmailChangeDeps): EmailChangeService {
  const { repository, check, limits, clock, ids, onMail } = deps;

  /** Returns the session that proves it; undefined if the password does, which counts whoever else is signed in. */
  const requireOwner = async (
    accountId: string,
    { user, password }: { user: SignedIn | undefined; password: string | undefined },
    origin: RequestOrigin,
  ): Promise<string | undefined> => {
    if (password) {
      await check.confirmAnonymous(accountId, password, 'password', origin);
      return undefined;
    }
    if (!user) throw ownerIsUnproven();
    if (user.userId !== accountId) throw tokenOfAnotherAccount();
    return user.sessionId;
  };

  return {
    async request(user, input, origin) {
      const { userId, sessionId } = user;
      const { email, password } = parseInput(changeEmailInput, input);
      const known = await check.confirm(userId, password, 'password', origin);
      if (email === known.account.email) throw emailIsTheSame();
      await limits.countChange(userId, 'email');
      await limits.countRecovery(origin.ip);
      const isAllowed = await limits.allowConfirmationMail(emailKey(email) ?? email);
      await repository.inTransaction(async (transaction) => {
        const { passwordVersion } = await lockOwner(transaction, user);
        if (passwordVersion !== known.passwordVersion) throw wrongPassword('password');
        const now = new Date(clock.now());
        const fact = { at: now, accountId: userId, origin };
        transaction.record({ ...fact, kind: 'email.change_requested', sessionId });
        // Without a new mail, the earlier one stays valid.
        if (!isAllowed) return;
        await transaction.revokeEmailChange(userId);
        transaction.addMail({ ...fact, id: ids.next(), kind: 'email.confirm', recipient: email });
      }, userId);
      onMail();
    },
    async confirm(user, input, origin) {
      const { token: given, password } = parseInput(confirmEmailInput, input);
      const hash = hashOf(given);
      const found = await repository.findEmailToken(hash, new Date(clock.now()));
      if (!found) throw emailTokenUnusable();
      const sessionId = await requireOwner(found.accountId, { user, password }, origin);
      await repository
        .inTransaction(async (transaction) => {
          const now = new Date(clock.now());
          const account = await transaction.lockAccount(found.accountId);
          const token = await transaction.findEmailToken(hash, found.accountId, now);
          // A password that is no longer the account's was replaced together with its tokens.
          if (!account || !token) throw emailTokenUnusable();
          const { id: accountId, email: recipient } = account;
          if (sessionId !== undefined && !(await transaction.lockCaller({ userId: accountId, sessionId })))
            throw sessionHasEnded();
          account.email = token.email;
          account.emailKey = emailKey(token.email) ?? token.email;
          account.emailConfirmedAt = now;
          account.updatedAt = now;
          // Including password resets that were mailed to the former address.
          await transaction.revokeChanges(accountId);
          const fact = { kind: 'email.changed', at: now, accountId, origin } as const;
          transaction.record({ ...fact, ...(sessionId && { sessionId }) });
          transaction.addMail({ ...fact, id: ids.next(), recipient });
        }, found.accountId)
        .catch((error: unknown) => {
          // Whoever has the token reads that address's mail, so they may learn that it has an account.
          throw isUniqueViolation(error, 'accounts_email_key_unique') ? emailIsTaken() : error;
        });
      onMail();
    },
  };
}
