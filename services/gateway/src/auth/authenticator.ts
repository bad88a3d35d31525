import { AppError, unavailable } from '@taskmesh/contracts';
import { ExpiringCache, isPersonalToken, verifyAccessToken, type VerifiedClaims } from '@taskmesh/identity';
import { bearerToken, detached, networkOf, type Clock } from '@taskmesh/service';
import type { Caller, GatewayContext, User } from '../context.ts';
import type { AccessKeys } from './access-keys.ts';
import type { EndedSessions, SessionUses } from './sessions.ts';
import type { PersonalTokens } from './personal-tokens.ts';

const CACHE_SIZE = 10_000;
const ANONYMOUS_CALLER: Caller = { kind: 'anonymous' };
const INVALID: Caller = { kind: 'invalid' };

export type Authenticator = Pick<GatewayContext, 'authenticate' | 'authenticateToken'>;

export interface AuthenticatorDeps {
  keys: AccessKeys;
  endedSessions: EndedSessions;
  personalTokens: PersonalTokens;
  sessionUses: Pick<SessionUses, 'note'>;
  clock: Clock;
}

/** A token's signature is verified once; its expiry, key and session are checked at every use. */
export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { keys, endedSessions, personalTokens, sessionUses, clock } = deps;
  const verified = new ExpiringCache<User>(CACHE_SIZE);

  const unlessEnded = (caller: User): Caller => {
    const { sid } = caller.claims;
    if (endedSessions.has(sid)) return INVALID;
    sessionUses.note(sid);
    return caller;
  };

  const verify = async (token: string, graceS = 0): Promise<Caller> => {
    // Without the list of ended sessions, a logged-out token would pass.
    if (!endedSessions.loaded() || !keys.current()) throw unavailable();
    try {
      const claims = await verifyAccessToken(token, keys.getKey, clock.now(), graceS);
      const caller = userOf(claims);
      verified.set(detached(token), caller, { until: claims.exp * 1000, now: clock.now() });
      return unlessEnded(caller);
    } catch (error) {
      if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') throw error;
      return INVALID;
    }
  };

  /** Personal tokens are not JWTs: only auth knows them. */
  const lookUpPersonal = async (token: string, ipOf: () => string): Promise<Caller> => {
    if (!endedSessions.loaded()) throw unavailable();
    const user = await personalTokens.userOf(token, () => networkOf(ipOf()));
    return user ? unlessEnded(user) : INVALID;
  };

  const authenticateToken: Authenticator['authenticateToken'] = async (token, { ipOf, graceS }) => {
    if (isPersonalToken(token)) return lookUpPersonal(token, ipOf);
    const known = verified.get(token, clock.now());
    if (known?.claims.key && keys.isCurrent(known.claims.key)) return unlessEnded(known);
    return verify(token, graceS);
  };

  return {
    authenticateToken,
    async authenticate(values, ipOf) {
      const [value] = values;
      if (value === undefined) return ANONYMOUS_CALLER;
      const token = values.length === 1 ? bearerToken(value) : '';
      return token === '' ? INVALID : authenticateToken(token, { ipOf });
    },
  };
}

function userOf(claims: VerifiedClaims): User {
  return { kind: 'user', claims, identity: { role: 'user', userId: claims.userId, sessionId: claims.sid } };
}
