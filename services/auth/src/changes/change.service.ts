import {
  changeEmailInput,
  changeNameInput,
  changePasswordInput,
  confirmEmailInput,
  deleteAccountInput,
  parseInput,
} from '@taskmesh/contracts';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { isUniqueViolation } from '@taskmesh/store';
import { lockConfirmed, lockOwner, type Caller, type SignedIn } from '../accounts/account-transaction.repository.ts';
import type { Account } from '../accounts/account.entity.ts';
import { emailKey } from '../accounts/email-key.ts';
import {
  emailTaken,
  emailUnchanged,
  mailedTokenUnusable,
  ownershipNotVerified,
  sessionEnded,
  tokenOfAnotherAccount,
} from '../auth.errors.ts';
import type { CommonParts } from '../common-parts.ts';
import { hashOf } from '../opaque-token.ts';
import { callerOf } from '../rate-limits.ts';

/** Changes that owners make to their accounts. */
export interface ChangeService {
  /** @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session or personal token has ended meanwhile */
  changeName(caller: Caller, name: string, origin: RequestOrigin): Promise<Account>;
  /**
   * Sets the password of a user who knows the current one, ends all their other sessions, and informs them by mail.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  changePassword(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
  /**
   * Puts a mail to the new address into the outbox, whether or not another account has that address: neither the result
   * nor its timing reveals this. Replaces an earlier request, unless that address has had too many mails.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  requestEmail(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<void>;
  /**
   * Changes the account's address to the one that the token was mailed to, and informs the old one. The token only proves that
   * somebody reads that mailbox, perhaps a stranger if the address was mistyped: `user` or the password in `input` proves who owns
   * the account. A failed call does not use up the token.
   * @throws AppError BAD_USER_INPUT, CONFLICT, RATE_LIMITED, FORBIDDEN for a user of another account, UNAUTHENTICATED without
   * either, and when the session has ended meanwhile
   */
  confirmEmail(user: SignedIn | undefined, input: unknown, origin: RequestOrigin): Promise<void>;
  /**
   * Deletes the account if the password is right, ends its sessions and tokens, and sends a last mail. Other services learn of
   * the deletion from the account log.
   * @throws AppError BAD_USER_INPUT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  deleteAccount(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<EndedSession[]>;
}

/** All deletions share one queue: they lock the account log, and several with long audit trails would hold a connection each. */
const DELETION_QUEUE = 'deletions';

export function createChangeService(common: CommonParts): ChangeService {
  const { inTransaction, mails, check, hasher, rules, limits, clock, ids } = common;

  /** Returns the session that proves ownership; undefined if the password does, no matter who is signed in. */
  const requireOwner = async (
    accountId: string,
    { user, password }: { user: SignedIn | undefined; password: string | undefined },
    origin: RequestOrigin,
  ): Promise<string | undefined> => {
    if (password) {
      await check.confirmAnonymous(accountId, password, 'password', origin);
      return undefined;
    }
    if (!user) throw ownershipNotVerified();
    if (user.userId !== accountId) throw tokenOfAnotherAccount();
    return user.sessionId;
  };

  return {
    async changeName(caller, newName, origin) {
      const { name } = parseInput(changeNameInput, { name: newName });
      await limits.countChange(caller.userId, 'name', origin.ip);
      return inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, caller);
        const now = new Date(clock.now());
        account.name = name;
        account.updatedAt = now;
        const { userId: accountId, sessionId } = caller;
        transaction.record({ kind: 'name.changed', at: now, accountId, sessionId, origin });
        return account;
      }, caller.userId);
    },
    async changePassword(user, input, origin) {
      const { userId, sessionId } = user;
      const { currentPassword, newPassword } = parseInput(changePasswordInput, input);
      const known = await check.confirm(userId, currentPassword, 'currentPassword', origin);
      rules.check(newPassword, 'newPassword', known.account.email);
      await limits.countChange(userId, 'password', origin.ip);
      const passwordHash = await hasher.hash(newPassword, origin.ip);
      // With the account locked, the later of two changes fails the version check, and no login opens a session in between.
      const ended = await inTransaction(async (transaction) => {
        const account = await lockConfirmed(transaction, user, known, 'currentPassword');
        const now = new Date(clock.now());
        account.passwordHash = passwordHash;
        account.passwordVersion++;
        account.updatedAt = now;
        await transaction.revokeChanges(account);
        const fact = { kind: 'password.changed', at: now, accountId: userId, origin } as const;
        transaction.record({ ...fact, sessionId });
        transaction.addMail({ ...fact, id: ids.next(), recipient: account.email });
        const { ended: others } = await transaction.endAllSessions({ accountId: userId, kept: sessionId, now });
        return others;
      }, userId);
      await limits.forgetFailedLogins(emailKey(known.account.email) ?? '', origin.ip);
      return ended;
    },
    async requestEmail(user, input, origin) {
      const { userId, sessionId } = user;
      const { email, password } = parseInput(changeEmailInput, input);
      const known = await check.confirm(userId, password, 'password', origin);
      if (email === known.account.email) throw emailUnchanged();
      await limits.countChange(userId, 'email', origin.ip);
      await limits.countRecovery(origin.ip);
      const isAllowed = await limits.allowConfirmationMail(emailKey(email) ?? email);
      await inTransaction(async (transaction) => {
        await lockConfirmed(transaction, user, known, 'password');
        const now = new Date(clock.now());
        const fact = { at: now, accountId: userId, origin };
        transaction.record({ ...fact, kind: 'email.change_requested', sessionId });
        // Without a new mail, the earlier one stays valid.
        if (!isAllowed) return;
        await transaction.revokeEmailChange(userId);
        transaction.addMail({ ...fact, id: ids.next(), kind: 'email.confirm', recipient: email });
      }, userId);
    },
    async confirmEmail(user, input, origin) {
      const { token: mailedToken, password } = parseInput(confirmEmailInput, input);
      const hash = hashOf(mailedToken);
      const ownerId = await mails.findAccountByEmailToken(hash, new Date(clock.now()), callerOf(origin.ip));
      if (ownerId === undefined) throw mailedTokenUnusable();
      const sessionId = await requireOwner(ownerId, { user, password }, origin);
      await inTransaction(async (transaction) => {
        const now = new Date(clock.now());
        const account = await transaction.lockAccount(ownerId);
        const token = await transaction.findEmailToken(hash, ownerId, now);
        // If the password was changed after the check, that change has revoked the token, too.
        if (!account || !token) throw mailedTokenUnusable();
        const { id: accountId, email: recipient } = account;
        if (sessionId !== undefined && !(await transaction.lockCaller({ userId: accountId, sessionId })))
          throw sessionEnded();
        const key = emailKey(token.email) ?? token.email;
        // An error of PostgreSQL would keep the address in its log.
        if (await transaction.isTaken(key, accountId)) throw emailTaken();
        account.email = token.email;
        account.emailKey = key;
        account.emailConfirmedAt = now;
        account.updatedAt = now;
        // Including password resets that were mailed to the old address.
        await transaction.revokeChanges(account);
        const fact = { kind: 'email.changed', at: now, accountId, origin } as const;
        transaction.record({ ...fact, ...(sessionId && { sessionId }) });
        transaction.addMail({ ...fact, id: ids.next(), recipient });
      }, ownerId).catch((error: unknown) => {
        // The token proves access to that mailbox, so the caller may learn that the address has an account.
        throw isUniqueViolation(error, 'accounts_email_key_unique') ? emailTaken() : error;
      });
    },
    async deleteAccount(user, input, origin) {
      const { userId } = user;
      const { password } = parseInput(deleteAccountInput, input);
      const known = await check.confirm(userId, password, 'password', origin);
      // Locks the account first, like every other change, so that no session is opened and no token created meanwhile.
      const ended = await inTransaction(async (transaction) => {
        const account = await lockConfirmed(transaction, user, known, 'password');
        const now = new Date(clock.now());
        const { email: recipient, emailKey: key } = account;
        await transaction.eraseTrail(userId);
        transaction.record({ kind: 'account.deleted', at: now, accountId: userId, origin: { ...origin, ip: null } });
        transaction.addMail({ id: ids.next(), accountId: null, kind: 'account.deleted', recipient, at: now, origin });
        await transaction.removeRecoveriesOf(key);
        await transaction.appendDeleted(userId, now);
        const sessionsAndTokens = await transaction.endEverything(userId, now);
        await transaction.removeAccount(userId);
        return sessionsAndTokens;
      }, DELETION_QUEUE);
      await limits.forgetFailedLogins(emailKey(known.account.email) ?? '', origin.ip);
      return ended;
    },
  };
}
