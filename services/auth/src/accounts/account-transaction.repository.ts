import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Database } from '@taskmesh/store';
import { APPEND_DELETED } from '../account-log/account-log.statements.ts';
import { AuditEntryEntity, type AuditKind } from '../audit/audit-entry.entity.ts';
import { ERASE_TRAIL, MARK_HOUSEKEEPING } from '../audit/audit.statements.ts';
import { accountDeleted, sessionEnded, wrongPassword } from '../auth.errors.ts';
import { AccountMailEntity, EmailTokenEntity, type AccountMail, type EmailToken } from '../changes/change.entities.ts';
import { LinkedIdentityEntity, SignInCodeEntity, type LinkedIdentity } from '../oidc/oidc.entities.ts';
import { PersonalTokenEntity, type PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity, ResetTokenEntity, type ResetToken } from '../recovery/recovery.entities.ts';
import { endingsOf } from '../sessions/ended-session.repository.ts';
import { RefreshTokenEntity, SessionEntity, type RefreshToken, type Session } from '../sessions/session.entities.ts';
import { AccountEntity } from './account.entity.ts';
import type { StoredAccount } from './account.repository.ts';

/** The user who sent the request. With a `scope`, it was sent with a personal token, and `sessionId` is the token's id. */
export interface Caller {
  userId: string;
  sessionId: string;
  scope?: TokenScope;
}

/** A caller who uses a session, not a personal token. */
export type SignedIn = Omit<Caller, 'scope'>;

/** An entry of the audit trail. */
export interface NewAuditEntry {
  kind: AuditKind;
  at: Date;
  accountId?: string | null;
  sessionId?: string | null;
  origin: Pick<RequestOrigin, 'ip' | 'requestId'>;
}

/** A mail about a change, with the time and the origin of that change. */
type NewMail = Pick<AccountMail, 'id' | 'accountId' | 'kind' | 'recipient'> & Pick<NewAuditEntry, 'at' | 'origin'>;

/** Identifies the one-time code of a sign-in through a provider. */
export interface SubmittedCode {
  hash: string;
  challenge: string;
}

/** An account without a password, opened by a sign-in through a provider. */
interface NewAccount {
  id: string;
  email: string;
  emailKey: string;
  name: string;
  passwordHash: string;
  now: Date;
}

export type AccountTransaction = ReturnType<typeof accountTransaction>;

/** Runs all of `work` or none of it, and saves changes of loaded entities. Repeats it, and takes turns, as `Database.inTransaction` does. */
export const accountTransactionsOf =
  (database: Database) =>
  <Result>(work: (transaction: AccountTransaction) => Promise<Result>, turn?: string): Promise<Result> =>
    database.inTransaction((em) => work(accountTransaction(em)), turn);

/** The operations of a transaction on an account and its rows. Lock the account first, then the caller's session or token. */
function accountTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const execute = <Row extends object>(text: string, values: unknown[]): Promise<Row[]> =>
    em.getConnection().execute<Row[]>(text, values, 'all', em.getTransactionContext());

  return {
    /** Deletes the row, at the latest when the transaction commits. */
    remove: (row: object): unknown => em.remove(row),
    /** The row's current state; null if it was deleted. */
    reread: <Row extends object>(row: Row): Promise<Row | null> => em.refresh(row),

    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    findAccount: (id: string) => em.findOneOrFail(AccountEntity, id),
    /** Whether another account has the address with this key. */
    isTaken: async (emailKey: string, id: string) => (await em.count(AccountEntity, { emailKey, id: { $ne: id } })) > 0,
    addAccount({ now, ...account }: NewAccount) {
      const times = { emailConfirmedAt: now, createdAt: now, updatedAt: now };
      const created = em.create(AccountEntity, { ...account, ...times, hasPassword: false, passwordVersion: 1 });
      em.persist(created);
      return created;
    },
    /** Deletes the account and all rows that belong to it. */
    removeAccount: (id: string) => em.nativeDelete(AccountEntity, { id }),
    /** Reports the deletion to other services. Locks the account log; after it, only the list of ended sessions may be locked. */
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

    /** A concurrent use of the same code waits, and then finds that the code no longer exists. */
    lockCode: (submitted: SubmittedCode, now: Date) =>
      em.findOne(SignInCodeEntity, { ...submitted, expiresAt: { $gt: now } }, locked),
    findLinked: ({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>) =>
      em.findOne(LinkedIdentityEntity, { issuer, subject }),
    /** Ordered by id. */
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
    /** Also revokes password resets: a new password or address cancels any change that an intruder may have begun. */
    async revokeChanges({ id: accountId, emailKey }: { id: string; emailKey: string }) {
      await this.removeRecoveriesOf(emailKey);
      await em.nativeDelete(ResetTokenEntity, { accountId });
      await this.revokeEmailChange(accountId);
    },

    /** Puts a mail into the outbox, due at once. */
    addMail({ at, origin: { ip, requestId }, ...mail }: NewMail): void {
      const due = { createdAt: at, attempts: 0, nextAttemptAt: at };
      em.persist(em.create(AccountMailEntity, { ...mail, ip, requestId, ...due }));
    },
    lockMail: (id: string) => em.findOne(AccountMailEntity, id, locked),
    lockRecovery: (id: string) => em.findOne(RecoveryRequestEntity, id, locked),
    removeRecovery: (id: string) => em.nativeDelete(RecoveryRequestEntity, { id }),
    /** Recovery mails that were requested for the address. */
    removeRecoveriesOf: (emailKey: string) => em.nativeDelete(RecoveryRequestEntity, { emailKey }),

    record({ origin: { ip, requestId }, accountId = null, sessionId = null, ...fact }: NewAuditEntry): void {
      em.persist(em.create(AuditEntryEntity, { ...fact, accountId, sessionId, ip, requestId }));
    },
    /** Deletes audit entries of the account, at most a batch; housekeeping deletes more, so that this transaction stays short. */
    async eraseTrail(accountId: string): Promise<void> {
      await execute(MARK_HOUSEKEEPING, []);
      await execute(ERASE_TRAIL, [accountId]);
    },
  };
}

/**
 * Locks the account and the caller's session or token at the start of a change. Gateways learn a moment late that a session has
 * ended, so only this check is certain. If two sessions end each other, the second one finds that it has ended.
 * @throws AppError UNAUTHENTICATED
 */
export async function lockOwner(transaction: AccountTransaction, caller: Caller) {
  const account = await transaction.lockAccount(caller.userId);
  if (!account) throw accountDeleted();
  if (!(await transaction.lockCaller(caller))) throw sessionEnded();
  return account;
}

/** Like `lockOwner`, for a caller who has confirmed the password. @throws AppError also BAD_USER_INPUT if it was changed since */
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
