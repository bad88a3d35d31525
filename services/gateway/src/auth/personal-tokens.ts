import { unavailable } from '@taskmesh/contracts';
import { ExpiringCache, hashPersonalToken } from '@taskmesh/identity';
import type { AuthInternal, KnownToken } from '@taskmesh/internal-api';
import { createFairQueue, type Clock } from '@taskmesh/service';
import type { User } from '../context.ts';

/** Older results are still used while they are refreshed: ended tokens are in the list of ended sessions within a second. */
const FRESH_MS = 60_000;
/** How long a result stays valid while auth is unavailable: as long as an access token would. */
const STALE_MS = 3_600_000;
/** Valid and invalid tokens have a cache of this size each, so that a flood of random tokens cannot evict valid ones. */
const CACHE_SIZE = 50_000;
/** More concurrent lookups would overload auth. Cached tokens are not affected. */
const MAX_CONCURRENT = 64;
const MAX_WAITING = 1_000;

/** Personal access tokens, which users create for programs. Only auth knows them, by their hashes. */
export type PersonalTokens = ReturnType<typeof createPersonalTokens>;

interface Lookup {
  user: User | undefined;
  /** Unix milliseconds. */
  requestedAt: number;
}

export function createPersonalTokens({ auth, clock }: { auth: Pick<AuthInternal, 'findPersonalToken'>; clock: Clock }) {
  const [good, bad] = [new ExpiringCache<Lookup>(CACHE_SIZE), new ExpiringCache<Lookup>(CACHE_SIZE)];
  const lookups = new Map<string, Promise<Lookup>>();
  const queue = createFairQueue({
    concurrency: MAX_CONCURRENT,
    maxWaiting: MAX_WAITING,
    failsTogether: true,
    refusal: () => unavailable('Too many tokens are being checked right now; try again.'),
  });

  const fetchToken = async (hash: string): Promise<Lookup> => {
    const requestedAt = clock.now();
    const known = await auth.findPersonalToken(hash);
    const lookup = { user: known ? userOf(known) : undefined, requestedAt };
    const [cache, other] = known ? [good, bad] : [bad, good];
    other.delete(hash);
    cache.set(hash, lookup, { until: requestedAt + STALE_MS, now: clock.now() });
    return lookup;
  };

  /** Concurrent requests with the same token share one lookup. */
  const fetchOnce = (hash: string, callerOf: () => string): Promise<Lookup> => {
    const pending = lookups.get(hash);
    if (pending) return pending;
    const fetching = queue.run(callerOf(), () => fetchToken(hash)).finally(() => lookups.delete(hash));
    lookups.set(hash, fetching);
    return fetching;
  };

  /** Requests with a cached token never wait for auth, which may be slow or hang. */
  const lookUp = async (hash: string, callerOf: () => string): Promise<Lookup> => {
    const nowMs = clock.now();
    const known = good.get(hash, nowMs) ?? bad.get(hash, nowMs);
    if (!known) return fetchOnce(hash, callerOf);
    if (nowMs >= known.requestedAt + FRESH_MS) fetchOnce(hash, callerOf).catch(() => undefined); // the next request tries again
    return known;
  };

  return {
    /**
     * Returns the token's user; undefined when it is invalid. `callerOf` identifies the caller, so that one caller's many tokens do
     * not delay those of others.
     * @throws AppError SERVICE_UNAVAILABLE when auth is unavailable
     */
    async userOf(token: string, callerOf: () => string) {
      const { user } = await lookUp(hashPersonalToken(token), callerOf);
      return user && user.claims.exp * 1_000 > clock.now() ? user : undefined;
    },
  };
}

/** The claims and identity that an access token would have, for the lifetime of this token. */
function userOf({ id, scope, userId, email, createdAt, expiresAt }: KnownToken): User {
  return {
    kind: 'user',
    claims: { userId, email, iat: createdAt, exp: expiresAt, sub: userId, sid: id, jti: id, key: undefined },
    identity: { role: 'user', userId, sessionId: id, scope },
  };
}
