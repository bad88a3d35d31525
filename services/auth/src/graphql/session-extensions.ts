import type { EndedSession } from '@taskmesh/internal-api';
import type { OpenedSession } from '../sessions/opened-session.ts';
import type { AuthContext } from './context.ts';

/** Tells the gateway as whom the rest of the operation runs. */
export function tellOpened({ extensions }: AuthContext, session: OpenedSession): OpenedSession {
  extensions.session = { userId: session.account.id, sessionId: session.sessionId };
  return session;
}

/** Tells the gateway at once, ahead of its next poll. */
export function tellEnded({ extensions }: AuthContext, sessions: EndedSession[]): void {
  if (sessions.length > 0) extensions.endedSessions = sessions;
}
