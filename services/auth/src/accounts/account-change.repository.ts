import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import { recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { accountIsGone, sessionHasEnded } from '../auth.errors.ts';
import { AccountMailEntity, EmailTokenEntity, type AccountMail } from '../changes/change.entities.ts';
import { PersonalTokenEntity } from '../personal-tokens/personal-token.entity.ts';
import { ResetTokenEntity } from '../recovery/recovery.entities.ts';
import { endAllSessions, type SessionsToEnd } from '../sessions/ended-session.repository.ts';
import { SessionEntity } from '../sessions/session.entities.ts';
import { AccountEntity } from './account.entity.ts';

/** Who asks. With a `scope` they ask with a personal token, and `sessionId` is that token's id. */
export interface Caller {
  userId: string;
  sessionId: string;
  scope?: TokenScope;
}

/** Somebody who has signed in, and asks with that session. */
export type SignedIn = Omit<Caller, 'scope'>;

export type AccountChange = ReturnType<typeof accountChange>;

/** What every transaction may do that changes something of an account: it locks the account first, then what the caller asks with. */
export function accountChange(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    lockAccount: (id: string) => em.findOne(AccountEntity, id, locked),
    /** The session or personal token; null when it has ended. */
    lockCaller: ({ userId: accountId, sessionId: id, scope }: Caller) =>
      scope === undefined
        ? em.findOne(SessionEntity, { id, accountId, endedAt: null }, locked)
        : em.findOne(PersonalTokenEntity, { id, accountId }, locked),
    endAllSessions: (which: SessionsToEnd) => endAllSessions(em, which),
    addMail: (mail: NewMail) => addMail(em, mail),
    record: (fact: AuditFact) => recordAuditEntry(em, fact),
  };
}

/** A mail about a change, which was made at this time, from there. */
export type NewMail = Pick<AccountMail, 'id' | 'accountId' | 'kind' | 'recipient'> & Pick<AuditFact, 'at' | 'origin'>;

/** Within the caller's transaction: puts a mail into the outbox, due at once. */
function addMail(em: EntityManager, { at, origin: { ip, requestId }, ...mail }: NewMail): void {
  em.persist(em.create(AccountMailEntity, { ...mail, ip, requestId, createdAt: at, attempts: 0, nextAttemptAt: at }));
}

/**
 * Within the caller's transaction: invalidates mailed tokens that could change the account's password or address, and
 * cancels such mails that have not been sent. A new password or address ends everything that an intruder may have
 * begun.
 */
export async function revokeChanges(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(ResetTokenEntity, { accountId });
  await revokeEmailChange(em, accountId);
}

/** The same, but only for changes of the address. */
export async function revokeEmailChange(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(AccountMailEntity, { accountId, kind: 'email.confirm' });
  await em.nativeDelete(EmailTokenEntity, { accountId });
}

/**
 * Begins a change that an owner asks for, within its transaction. Gateways learn of an end a moment late, so only here is it certain
 * that the caller may still ask. Of two sessions that end each other, the second one finds that it has ended.
 * @throws AppError UNAUTHENTICATED
 */
export async function lockOwner(transaction: AccountChange, caller: Caller) {
  const account = await transaction.lockAccount(caller.userId);
  if (!account) throw accountIsGone();
  if (!(await transaction.lockCaller(caller))) throw sessionHasEnded();
  return account;
}
