import { unavailable } from '@taskmesh/errors';
import { bearerToken, ExpiringCache, verifyAccessToken, type VerifiedClaims } from '@taskmesh/identity';
import type { Clock } from '@taskmesh/service';
import type { Caller } from '../context.ts';
import type { AccessKeys } from './access-keys.ts';
import type { EndedSessions } from './ended-sessions.ts';
import type { SessionUses } from './session-uses.ts';

type User = Extract<Caller, { kind: 'user' }>;

const CACHE_SIZE = 50_000;
const ANONYMOUS_CALLER: Caller = { kind: 'anonymous' };
const INVALID: Caller = { kind: 'invalid' };

export interface Authenticator {
  /** The values of all `Authorization` headers. @throws AppError SERVICE_UNAVAILABLE while nothing can be checked yet */
  authenticate(values: readonly string[]): Promise<Caller>;
  /** A bare token; with `graceS` also one that expired so many seconds ago. @throws AppError SERVICE_UNAVAILABLE while nothing can be checked yet */
  authenticateToken(token: string, options?: { graceS: number }): Promise<Caller>;
}

export interface AuthenticatorDeps {
  keys: AccessKeys;
  endedSessions: EndedSessions;
  sessionUses: Pick<SessionUses, 'note'>;
  clock: Clock;
}

/** A signature is checked once for each token; its expiry, its key and its session at every use. */
export function createAuthenticator({ keys, endedSessions, sessionUses, clock }: AuthenticatorDeps): Authenticator {
  const verified = new ExpiringCache<User>(CACHE_SIZE);

  const living = (caller: User): Caller => {
    const { sid } = caller.claims;
    if (endedSessions.has(sid)) return INVALID;
    sessionUses.note(sid);
    return caller;
  };

  const verify = async (token: string, graceS = 0): Promise<Caller> => {
    // Without the list of ended sessions a token that was logged out would pass.
    if (!endedSessions.loaded() || !keys.current()) throw unavailable();
    try {
      const claims = await verifyAccessToken(token, keys.getKey, clock.now(), graceS);
      const caller = userOf(claims);
      verified.set(token, caller, claims.exp * 1000);
      return living(caller);
    } catch {
      return INVALID;
    }
  };

  const authenticateToken: Authenticator['authenticateToken'] = async (token, { graceS } = { graceS: 0 }) => {
    const known = verified.get(token, clock.now());
    if (known && keys.isCurrent(known.claims.key)) return living(known);
    return verify(token, graceS);
  };

  return {
    authenticateToken,
    async authenticate(values) {
      const [value] = values;
      if (value === undefined) return ANONYMOUS_CALLER;
      const token = values.length === 1 ? bearerToken(value) : '';
      return token === '' ? INVALID : authenticateToken(token);
    },
  };
}

function userOf(claims: VerifiedClaims): User {
  return { kind: 'user', claims, identity: { role: 'user', userId: claims.userId, sessionId: claims.sid } };
}
