/**
 * From where somebody asks; only auth receives it.
 * `ip` is the caller's address (for its limits), `client` what the caller's program calls itself, at most `CLIENT_LENGTH` characters.
 */
export interface Whereabouts {
  ip?: string;
  client?: string;
}

/** Who asks, as the gateway found out: services trust this and nothing else. */
export type Identity =
  | ({ role: 'anonymous' } & Whereabouts)
  | ({ role: 'user'; userId: string; sessionId: string } & Whereabouts)
  | ({ role: 'operator' } & Whereabouts)
  /** A service on its own behalf, for internal calls. */
  | { role: 'service'; name: string };

/** Of what a program calls itself, more than this tells nobody anything. */
export const CLIENT_LENGTH = 255;

export const ANONYMOUS: Identity = { role: 'anonymous' };
