import type { Database } from '@taskmesh/store';
import type { EndedSession, RequestOrigin, SessionUse } from '@taskmesh/internal-api';
import type { NewSession } from './new-session.ts';
import { SessionEntity, type Session } from './session.entities.ts';
import { ENDED_SESSIONS, NOTE_SESSION_USES, NOTE_TOKEN_USES, OPEN_SESSION } from './session.statements.ts';

/** The most ended sessions in one answer. */
const LIST_SIZE = 10_000;

/** The most sessions listed for one account. */
const OWN_SIZE = 1_000;

interface InsertOptions {
  passwordVersion: number;
  origin: RequestOrigin;
  most: number;
}

export type SessionRepository = ReturnType<typeof createSessionRepository>;

/** Frequent queries are prepared statements. */
export function createSessionRepository(database: Database) {
  return {
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

    /** Of sessions and personal tokens. */
    async noteUses(uses: SessionUse[]): Promise<void> {
      const values = [uses.map(({ sessionId }) => sessionId), uses.map(({ at }) => new Date(at))];
      for (const statement of [NOTE_SESSION_USES, NOTE_TOKEN_USES]) await database.run('read', statement, values); // safe to repeat
    },

    /** Entries after `after` whose tokens expire after `forgottenBefore`. `last` is the head unless the list is full. */
    async listEnded(after: number, forgottenBefore: Date): Promise<{ last: number; sessions: EndedSession[] }> {
      const rows = await database.run<EndedRow>('read', ENDED_SESSIONS, [after, forgottenBefore, LIST_SIZE]);
      const sessions = rows.flatMap(({ head: _, sequence, ...row }) =>
        sequence === null ? [] : [{ sequence, ...row }],
      );
      const isFull = sessions.length === LIST_SIZE;
      return { last: (isFull ? sessions.at(-1)?.sequence : rows[0]?.head) ?? 0, sessions };
    },
  };
}

/** Without entries, a single row holds the head. */
type EndedRow = Omit<EndedSession, 'sequence'> & { head: number; sequence: number | null };
