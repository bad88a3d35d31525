import { LockMode, type EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/store';
import type { EndedSession, RequestOrigin, SessionUse } from '@taskmesh/internal-api';
import { accountChange } from '../accounts/account-change.repository.ts';
import { AccountEntity, type Account } from '../accounts/account.entity.ts';
import { endOldestSessions, endSession, type SessionsToEnd } from './ended-session.repository.ts';
import type { NewSession, SessionRow } from './new-session.ts';
import { RefreshTokenEntity, SessionEntity, type RefreshToken, type Session } from './session.entities.ts';
import { ENDED_SESSIONS, noteUsesOf, OPEN_SESSION } from './session.statements.ts';

/** The most ended sessions in one answer. */
const LIST_SIZE = 10_000;

const NOTE_USES = noteUsesOf('sessions', `ended_at is null and used.at >= created_at + interval '1 minute'`);
/** The most sessions listed for one account. */
const OWN_SIZE = 1_000;

export type SessionTransaction = ReturnType<typeof sessionTransaction>;

export interface InsertOptions {
  passwordVersion: number;
  origin: RequestOrigin;
  most: number;
}

export type SessionRepository = ReturnType<typeof createSessionRepository>;

/** Frequent queries are prepared statements. */
export function createSessionRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, sessionTransaction),

    /** False, with nothing stored, when the account's password has changed since this version, or it has `most` sessions. */
    async insert(session: NewSession, { passwordVersion, origin, most }: InsertOptions): Promise<boolean> {
      const values = [...session.values(origin, 'session.opened'), passwordVersion, most];
      return (await database.run('write', OPEN_SESSION, values)).length > 0;
    },

    /** An account's usable sessions, newest first, at most 1,000. */
    listLiving: (accountId: string, now: Date): Promise<Session[]> =>
      database.retry((em) =>
        em.find(
          SessionEntity,
          { accountId, endedAt: null, expiresAt: { $gt: now } },
          { orderBy: { createdAt: 'desc', id: 'desc' }, limit: OWN_SIZE },
        ),
      ),

    async noteUses(uses: SessionUse[]): Promise<void> {
      const ids = uses.map(({ sessionId }) => sessionId);
      await database.run('read', NOTE_USES, [ids, uses.map(({ at }) => new Date(at))]); // safe to repeat
    },

    /** Entries after `after` whose tokens expire after `forgottenBefore`. `last` is the head unless the list is full. */
    async listEnded(after: number, forgottenBefore: Date): Promise<{ last: number; sessions: EndedSession[] }> {
      return listOf(await database.run<EndedRow>('read', ENDED_SESSIONS, [after, forgottenBefore, LIST_SIZE]));
    },
  };
}

/** What every transaction may do that opens or ends a session. */
export function sessionTransaction(em: EntityManager) {
  return {
    ...accountChange(em),
    findToken: (hash: string): Promise<RefreshToken | null> => em.findOne(RefreshTokenEntity, hash),
    /** The token's present state; null when it has been deleted. */
    rereadToken: (token: RefreshToken): Promise<RefreshToken | null> => em.refresh(token),
    addToken: (token: Omit<RefreshToken, 'usedAt'>): unknown => em.persist(em.create(RefreshTokenEntity, token)),
    removeToken: (token: RefreshToken): unknown => em.remove(token),
    lockLiving: (which: { id: string; accountId?: string } | { refreshFamily: string }): Promise<Session | null> =>
      em.findOne(SessionEntity, { ...which, endedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    add: (session: SessionRow): unknown => em.persist(em.create(SessionEntity, session)),
    findAccount: (id: string): Promise<Account> => em.findOneOrFail(AccountEntity, id),
    /** The transaction must have locked this session. */
    end: (session: Session, now: Date) => endSession(em, session, now),
    endOldest: (which: SessionsToEnd, others: number) => endOldestSessions(em, which, others),
  };
}

/** 64-bit numbers are returned as strings. Without entries, a single row holds the head. */
interface EndedRow {
  head: string;
  sequence: string | null;
  session_id: string;
  until: string;
}

function listOf(rows: EndedRow[]): { last: number; sessions: EndedSession[] } {
  const sessions = rows
    .filter(({ sequence }) => sequence !== null)
    .map(({ sequence, session_id, until }) => ({
      sequence: Number(sequence),
      sessionId: session_id,
      until: Number(until),
    }));
  const newest = sessions.at(-1);
  const last = newest && sessions.length === LIST_SIZE ? newest.sequence : Number(rows[0]?.head ?? 0);
  return { last, sessions };
}
