import type { Database } from '@taskmesh/store';
import type { EndedSession, RequestOrigin, SessionUse } from '@taskmesh/internal-api';
import type { SignedIn } from '../accounts/account-transaction.repository.ts';
import type { NewSession } from './new-session.ts';
import type { Session } from './session.entities.ts';
import * as statements from './session.statements.ts';

/** Maximum number of ended sessions per response. */
const MAX_ROWS = 10_000;

interface InsertOptions {
  passwordVersion: number;
  origin: RequestOrigin;
  maxSessions: number;
}

export type SessionRepository = ReturnType<typeof createSessionRepository>;

export function createSessionRepository(database: Database) {
  return {
    /** Stores nothing and returns false if the password has changed since, or if the account has `maxSessions` sessions. */
    async insert(session: NewSession, { passwordVersion, origin, maxSessions }: InsertOptions): Promise<boolean> {
      const values = [...session.values(origin, 'session.opened'), passwordVersion, maxSessions];
      return (await database.run('write', statements.OPEN_SESSION, values, session.opened.account.id)).length > 0;
    },

    /** An account's usable sessions, newest first, at most 1,000. */
    listUsable: ({ userId, sessionId }: SignedIn, now: Date) =>
      database.run<OwnSession>('read', statements.OWN_SESSIONS, [userId, now, sessionId], userId),

    /** Records uses of sessions and personal tokens. */
    async noteUses(uses: SessionUse[]): Promise<void> {
      const values = [uses.map(({ sessionId }) => sessionId), uses.map(({ at }) => new Date(at))];
      for (const statement of [statements.NOTE_SESSION_USES, statements.NOTE_TOKEN_USES])
        await database.run('read', statement, values); // safe to repeat
    },

    /** Entries after `after` whose tokens expire after `forgottenBefore`. `last` is the head unless the list is full. */
    async listEnded(after: number, forgottenBefore: Date): Promise<{ last: number; sessions: EndedSession[] }> {
      const rows = await database.run<EndedRow>('read', statements.ENDED_SESSIONS, [after, forgottenBefore, MAX_ROWS]);
      const sessions = rows.flatMap(({ head: _, sequence, ...row }) =>
        sequence === null ? [] : [{ sequence, ...row }],
      );
      const isFull = sessions.length === MAX_ROWS;
      return { last: (isFull ? sessions.at(-1)?.sequence : rows[0]?.head) ?? 0, sessions };
    },
  };
}

/** A usable session, as its owner sees it. Times in RFC 3339. */
export interface OwnSession extends Pick<Session, 'id' | 'ip' | 'client'>, Record<'createdAt' | 'lastUsedAt', string> {
  current: boolean;
}

/** If there are no entries, a single row contains the head. */
type EndedRow = Omit<EndedSession, 'sequence'> & { head: number; sequence: number | null };
