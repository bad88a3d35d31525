import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import type { EndedSession, SessionUse } from '@taskmesh/internal-api';
import { AccountEntity, type Account } from '../accounts/account.entity.ts';
import { recordFact, type AuditFact } from '../audit/audit.repository.ts';
import type { RequestOrigin } from '../audit/request-origin.ts';
import { endSessions } from './ended-session.repository.ts';
import type { NewSession } from './new-session.ts';
import { RefreshTokenEntity, type RefreshToken } from './refresh-token.entity.ts';
import { SessionEntity, type Session } from './session.entity.ts';
import { ENDED_SESSIONS, noteUsesOf, OPEN_SESSION } from './sessions.statements.ts';

/** The most entries of the list of ended sessions in one answer. */
const LIST_SIZE = 10_000;

const NOTE_USES = noteUsesOf('sessions', `ended_at is null and used.at >= created_at + interval '1 minute'`);
/** The most sessions that one account is shown. */
const OWN_SIZE = 1_000;

/** The statements of a transaction. What is changed of an entity meanwhile is written, too. */
export type SessionTransaction = ReturnType<typeof sessionTransaction>;

/** What is asked for often is a prepared statement. */
export interface SessionRepository {
  /** All of `work`, or nothing of it. It is begun anew when the database was away and is known to have done nothing. */
  inTransaction<Result>(work: (sessions: SessionTransaction) => Promise<Result>): Promise<Result>;
  /** False, and nothing stored, when the account has another password than this version by now. */
  insert(session: NewSession, passwordVersion: number, origin: RequestOrigin): Promise<boolean>;
  /** What of an account's sessions can still be used, newest first, at most 1,000. */
  listLiving(accountId: string, now: Date): Promise<Session[]>;
  noteUses(uses: SessionUse[]): Promise<void>;
  /** Behind `after`, with tokens that expired later than `forgottenBefore`, oldest first; `last` is the head unless the list is full. */
  listEnded(after: number, forgottenBefore: Date): Promise<{ last: number; sessions: EndedSession[] }>;
}

export function createSessionRepository(database: Database): SessionRepository {
  return {
    inTransaction: (work) =>
      whileAway({ kind: 'write' }, () => database.em().transactional((em) => work(sessionTransaction(em)))),
    async insert(session, passwordVersion, origin) {
      const values = [...session.values(origin, 'session.opened'), passwordVersion];
      return (await database.run('write', OPEN_SESSION, values)).length > 0;
    },
    listLiving: (accountId, now) =>
      whileAway({ kind: 'read' }, () =>
        database
          .em()
          .find(
            SessionEntity,
            { accountId, endedAt: null, expiresAt: { $gt: now } },
            { orderBy: { createdAt: 'desc', id: 'desc' }, limit: OWN_SIZE },
          ),
      ),
    async noteUses(uses) {
      const ids = uses.map(({ sessionId }) => sessionId);
      await database.run('read', NOTE_USES, [ids, uses.map(({ at }) => new Date(at))]); // repeating it changes nothing more
    },
    async listEnded(after, forgottenBefore) {
      return listOf(await database.run<EndedRow>('read', ENDED_SESSIONS, [after, forgottenBefore, LIST_SIZE]));
    },
  };
}

function sessionTransaction(em: EntityManager) {
  return {
    findToken: (hash: string): Promise<RefreshToken | null> => em.findOne(RefreshTokenEntity, hash),
    /** The token as it is by now; null when it is gone. */
    rereadToken: (token: RefreshToken): Promise<RefreshToken | null> => em.refresh(token),
    addToken: (token: Omit<RefreshToken, 'usedAt'>): unknown => em.persist(em.create(RefreshTokenEntity, token)),
    removeToken: (token: RefreshToken): unknown => em.remove(token),
    lockLiving: (which: { id: string; accountId?: string } | { refreshFamily: string }): Promise<Session | null> =>
      em.findOne(SessionEntity, { ...which, endedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    /** In the order of their ids, as everybody locks several. */
    lockAllLiving: (accountId: string): Promise<Session[]> =>
      em.find(
        SessionEntity,
        { accountId, endedAt: null },
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
      ),
    findAccount: (id: string): Promise<Account> => em.findOneOrFail(AccountEntity, id),
    record: (fact: AuditFact) => recordFact(em, fact),
    /** Of sessions that this transaction has locked. */
    end: (sessions: Session[], now: Date) => endSessions(em, sessions, now),
  };
}

/** Numbers of 64 bits come as text; without an entry, one row tells the head. */
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
