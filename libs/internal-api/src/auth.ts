import type { KeySet } from '@taskmesh/identity';
import type { InternalApi } from './define.ts';

/** A session that has ended: its access tokens count no more, up to `until` (Unix seconds), when the last of them expires. */
export interface EndedSession {
  /** The position in the list of ended sessions: 1, 2, 3 … in the order of the commits. */
  sequence: number;
  sessionId: string;
  until: number;
}

/** What auth offers to other services. */
export interface AuthInternal {
  /** Ended sessions behind `after` whose tokens could still live, oldest first, at most 10,000; `last` is the newest sequence returned, or the head when there are no more. */
  endedSessions(after: number): Promise<{ last: number; sessions: EndedSession[] }>;
  /** The public halves of every key that signs or signed access tokens that still live. */
  accessTokenKeys(): Promise<KeySet>;
}

export const authInternal: InternalApi<AuthInternal> = {
  service: 'auth',
  names: ['endedSessions', 'accessTokenKeys'],
};
