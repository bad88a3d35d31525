import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import type { RequestOrigin } from '@taskmesh/internal-api';
import { transactionsOf, type Database } from '@taskmesh/store';
import { APPEND_DELETED } from '../account-log/account-log.statements.ts';
import { AuditEntryEntity, type AuditKind } from '../audit/audit-entry.entity.ts';
import { ERASE_TRAIL, ERASED_AT_ONCE, IS_HOUSEKEEPING } from '../audit/audit.statements.ts';
import { accountIsGone, sessionHasEnded, wrongPassword } from '../auth.errors.ts';
import { AccountMailEntity, EmailTokenEntity, type AccountMail, type EmailToken } from '../changes/change.entities.ts';
import { LinkedIdentityEntity, SignInCodeEntity, type LinkedIdentity } from '../oidc/oidc.entities.ts';
import { PersonalTokenEntity, type PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity, ResetTokenEntity, type ResetToken } from '../recovery/recovery.entities.ts';
import { endingsOf } from '../sessions/ended-session.repository.ts';
import { RefreshTokenEntity, SessionEntity, type RefreshToken, type Session } from '../sessions/session.entities.ts';
import { AccountEntity } from './account.entity.ts';
import type { StoredAccount } from './account.repository.ts';

/** Who asks. With a `scope` they ask with a personal token, and `sessionId` is that token's id. */
export interface Caller {
  userId: string;
  sessionId: string;
  scope?: TokenScope;
}

/** Somebody who has signed in, and asks with that session. */
export type SignedIn = Omit<Caller, 'scope'>;

/** An entry of the audit trail. */
export interface AuditFact {
  kind: AuditKind;
  at: Date;
  accountId?: string | null;
  sessionId?: string | null;
  origin: Pick<RequestOrigin, 'ip' | 'requestId'>;
}

/** A mail about a change, which was made at this time, from there. */
type NewMail = Pick<AccountMail, 'id' | 'accountId' | 'kind' | 'recipient'> & Pick<AuditFact, 'at' | 'origin'>;

/** Identifies the code of a sign-in at a provider. */
export interface GivenCode {
  hash: string;
  challenge: string;
}

/** An account that is opened at a provider, without a password. */
interface NewAccount {
  id: string;
  email: string;
  emailKey: string;
  name: string;
  passwordHash: string;
  now: Date;
}

export type AccountTransaction = ReturnType<typeof accountTransaction>;

export const accountTransactionsOf = (database: Database) => transactionsOf(database, accountTransaction);

/** Below all ids, also those that a restore has put before the first one. */
const BEFORE_ALL = '-9223372036854775808';

/** What one transaction may do with an account and all that belongs to it. It locks the account first, then what the caller asks with. */
function accountTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const execute = <Row extends object>(text: string, values: unknown[]): Promise<Row[]> =>
    em.getConnection().execute<Row[]>(text, values, 'all', em.getTransactionContext());

  return {
    /** Saved with the transaction. */
    remove: (row: object): unknown => em.remove(row),
    /** The row's present state; null when it has been deleted. */
    reread: <Row extends object>(row: Row): Promise<Row | null> => em.refresh(row),

    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    findAccount: (id: string) => em.findOneOrFail(AccountEntity, id),
    addAccount({ now, ...account }: NewAccount) {
      const times = { emailConfirmedAt: now, createdAt: now, updatedAt: now };
      const created = em.create(AccountEntity, { ...account, ...times, hasPassword: false, passwordVersion: 1 });
      em.persist(created);
      return created;
    },
    /** Deletes the account and all rows that belong to it. */
    removeAccount: (id: string) => em.nativeDelete(AccountEntity, { id }),
    /** For other services. Only the list of ended sessions may be locked after it. */
    appendDeleted: (accountId: string, now: Date) => execute(APPEND_DELETED, [accountId, now]),
    /** The session or personal token; null when it has ended. */
    lockCaller: ({ userId: accountId, sessionId: id, scope }: Caller) =>
      scope === undefined
        ? em.findOne(SessionEntity, { id, accountId, endedAt: null }, locked)
        : em.findOne(PersonalTokenEntity, { id, accountId }, locked),

    lockSession: (which: { id: string } | { refreshFamily: string }) =>
      em.findOne(SessionEntity, { ...which, endedAt: null }, locked),
    addSession: (session: Omit<Session, 'endedAt' | 'lastUsedAt'>): unknown =>
      em.persist(em.create(SessionEntity, session)),
    findRefreshToken: (hash: string) => em.findOne(RefreshTokenEntity, hash),
    addRefreshToken: (token: Omit<RefreshToken, 'usedAt'>): unknown => em.persist(em.create(RefreshTokenEntity, token)),
    ...endingsOf(em),

    countPersonalTokens: (accountId: string, now: Date) =>
      em.count(PersonalTokenEntity, { accountId, expiresAt: { $gt: now } }),
    addPersonalToken: (token: Omit<PersonalToken, 'lastUsedAt'>): unknown =>
      em.persist(em.create(PersonalTokenEntity, token)),

    /** A simultaneous user of the code waits, and then finds it gone. */
    lockCode: (given: GivenCode, now: Date) =>
      em.findOne(SignInCodeEntity, { ...given, expiresAt: { $gt: now } }, locked),
    findLinked: ({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>) =>
      em.findOne(LinkedIdentityEntity, { issuer, subject }),
    /** In the order of their ids. */
    lockLinked: (accountId: string) =>
      em.find(LinkedIdentityEntity, { accountId }, { ...locked, orderBy: { id: 'asc' } }),
    addLinked: (linked: LinkedIdentity): unknown => em.persist(em.create(LinkedIdentityEntity, linked)),

    findResetToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(ResetTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    addResetToken: (token: ResetToken): unknown => em.persist(em.create(ResetTokenEntity, token)),
    findEmailToken: (hash: string, accountId: string, now: Date) =>
      em.findOne(EmailTokenEntity, { hash, accountId, expiresAt: { $gt: now } }),
    addEmailToken: (token: EmailToken): unknown => em.persist(em.create(EmailTokenEntity, token)),
    /** Invalidates mailed tokens that could change the account's address, and cancels such mails that have not been sent. */
    async revokeEmailChange(accountId: string) {
      await em.nativeDelete(AccountMailEntity, { accountId, kind: 'email.confirm' });
      await em.nativeDelete(EmailTokenEntity, { accountId });
    },
    /** The same for its password. A new password or address ends everything that an intruder may have begun. */
    async revokeChanges(accountId: string) {
      await em.nativeDelete(ResetTokenEntity, { accountId });
      await this.revokeEmailChange(accountId);
    },

    /** Puts a mail into the outbox, due at once. */
    addMail({ at, origin: { ip, requestId }, ...mail }: NewMail): void {
      const due = { createdAt: at, attempts: 0, nextAttemptAt: at };
      em.persist(em.create(AccountMailEntity, { ...mail, ip, requestId, ...due }));
    },
    lockMail: (id: string) => em.findOne(AccountMailEntity, id, locked),
    removeRecovery: (id: string) => em.nativeDelete(RecoveryRequestEntity, { id }),
    /** Recovery mails that were requested for the address. */
    removeRecoveriesOf: (emailKey: string) => em.nativeDelete(RecoveryRequestEntity, { emailKey }),

    record({ origin: { ip, requestId }, accountId = null, sessionId = null, ...fact }: AuditFact): void {
      em.persist(em.create(AuditEntryEntity, { ...fact, accountId, sessionId, ip, requestId }));
    },
    /** Nothing is known any more of what happened to the account. */
    async eraseTrail(accountId: string): Promise<void> {
      await execute(IS_HOUSEKEEPING, []);
      for (let last = BEFORE_ALL; ;) {
        const [gone] = await execute<{ count: number; last: string }>(ERASE_TRAIL, [accountId, last]);
        if (!gone || gone.count < ERASED_AT_ONCE) return;
        ({ last } = gone);
      }
    },
  };
}

/**
 * Begins a change that an owner asks for, within its transaction. Gateways learn of an end a moment late, so only here is it certain
 * that the caller may still ask. Of two sessions that end each other, the second one finds that it has ended.
 * @throws AppError UNAUTHENTICATED
 */
export async function lockOwner(transaction: AccountTransaction, caller: Caller) {
  const account = await transaction.lockAccount(caller.userId);
  if (!account) throw accountIsGone();
  if (!(await transaction.lockCaller(caller))) throw sessionHasEnded();
  return account;
}

/** The same for an owner who has confirmed the password, unless it was changed since. @throws AppError also BAD_USER_INPUT */
export async function lockConfirmed(
  transaction: AccountTransaction,
  caller: SignedIn,
  known: StoredAccount,
  path: string,
) {
  const account = await lockOwner(transaction, caller);
  if (account.passwordVersion !== known.passwordVersion) throw wrongPassword(path);
  return account;
}
