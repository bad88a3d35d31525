import type { TokenScope } from './personal-token.ts';

/**
 * From where somebody asks; only auth receives it.
 * `ip` is the caller's address (for its limits), `client` what the caller's program calls itself, at most `CLIENT_LENGTH` characters.
 */
export interface Whereabouts {
  ip?: string;
  client?: string;
}

/**
 * Who asks, as the gateway found out: services trust this and nothing else. With a `scope`, somebody's program asks with a
 * personal token, and `sessionId` is that token's id.
 */
export type Identity =
  | ({ role: 'anonymous' } & Whereabouts)
  | ({ role: 'user'; userId: string; sessionId: string; scope?: TokenScope } & Whereabouts)
  | ({ role: 'operator' } & Whereabouts)
  /** A service on its own behalf, for internal calls. */
  | { role: 'service'; name: string };

/** Of what a program calls itself, more than this tells nobody anything. */
export const CLIENT_LENGTH = 255;

export const ANONYMOUS: Identity = { role: 'anonymous' };
