import { LockMode, type EntityManager } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import { recordAuditEntry, type AuditFact } from '../audit/audit.repository.ts';
import { addMail, type NewMail } from '../changes/account-mail.repository.ts';
import { PersonalTokenEntity } from '../personal-tokens/personal-token.entity.ts';
import { endAllSessions, type SessionsToEnd } from '../sessions/ended-session.repository.ts';
import { SessionEntity } from '../sessions/session.entity.ts';
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
