import type { EndedSession, SubgraphContext } from '@taskmesh/internal-api';
import type { OpenedSession } from '../sessions/opened-session.ts';

/** Tells the gateway as whom the rest of the operation runs, and which sessions made room for this one. */
export function tellOpened(context: SubgraphContext, session: OpenedSession): OpenedSession {
  context.extensions.session = { userId: session.account.id, sessionId: session.sessionId };
  tellEnded(context, session.ended);
  return session;
}

/** Tells the gateway at once, ahead of its next poll, beside what else the operation has ended. */
export function tellEnded({ extensions }: SubgraphContext, sessions: EndedSession[]): void {
  const told = (extensions.endedSessions ?? []) as EndedSession[];
  if (sessions.length > 0) extensions.endedSessions = [...told, ...sessions];
}
