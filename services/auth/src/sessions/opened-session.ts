import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { Account } from '../accounts/account.entity.ts';

/** How somebody opens a session, or refreshes it. */
export interface Opening {
  withRefreshToken: boolean;
  origin: RequestOrigin;
}

/** What the holder of a new or refreshed session gets. */
export interface OpenedSession {
  sessionId: string;
  accessToken: string;
  /** Only on request: without one, a session ends with its access token. */
  refreshToken: string | undefined;
  /** Seconds until the access token expires. */
  expiresIn: number;
  account: Account;
  /** Older sessions that ended because the account had too many. */
  ended: EndedSession[];
}
