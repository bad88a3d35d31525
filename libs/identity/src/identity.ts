/**
 * Who asks, as the gateway found out: services trust this and nothing else.
 * `ip` is the caller's address; only auth receives it (for its limits).
 */
export type Identity =
  | { role: 'anonymous'; ip?: string }
  | { role: 'user'; userId: string; sessionId: string; ip?: string }
  | { role: 'operator'; ip?: string }
  /** A service on its own behalf, for internal calls. */
  | { role: 'service'; name: string };

export const ANONYMOUS: Identity = { role: 'anonymous' };
