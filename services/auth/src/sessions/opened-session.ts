import type { Account } from '../accounts/account.entity.ts';

/** What the holder of a new session, or of a refreshed one, gets. */
export interface OpenedSession {
  sessionId: string;
  accessToken: string;
  /** Only when it was asked for: a session without one ends with its access token. */
  refreshToken: string | undefined;
  /** Seconds until the access token expires. */
  expiresIn: number;
  account: Account;
}
