import type { Database } from '@taskmesh/database';
import type { EndedSession } from '@taskmesh/internal-api';
import type { RequestOrigin } from '../audit/request-origin.ts';
import type { NewSession } from './new-session.ts';
import { ENDED_SESSIONS, OPEN_SESSION } from './sessions.statements.ts';

/** The most entries of the list of ended sessions in one answer. */
const LIST_SIZE = 10_000;

/** What is asked for often, as prepared statements. */
export interface SessionRepository {
  /** False, and nothing stored, when the account has another password than this version by now. */
  insert(session: NewSession, passwordVersion: number, origin: RequestOrigin): Promise<boolean>;
  /** Behind `after`, with tokens that expired later than `forgottenBefore`, oldest first; `last` is the head unless the list is full. */
  listEnded(after: number, forgottenBefore: Date): Promise<{ last: number; sessions: EndedSession[] }>;
}

export function createSessionRepository(database: Database): SessionRepository {
  return {
    async insert(session, passwordVersion, origin) {
      const values = [...session.values(origin, 'session.opened'), passwordVersion];
      return (await database.run('write', OPEN_SESSION, values)).length > 0;
    },
    async listEnded(after, forgottenBefore) {
      return listOf(await database.run<EndedRow>('read', ENDED_SESSIONS, [after, forgottenBefore, LIST_SIZE]));
    },
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
