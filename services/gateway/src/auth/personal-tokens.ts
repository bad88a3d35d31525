import { unavailable } from '@taskmesh/contracts';
import { ExpiringCache, hashOfPersonalToken } from '@taskmesh/identity';
import type { AuthInternal, KnownToken } from '@taskmesh/internal-api';
import { createFairQueue, type Clock } from '@taskmesh/service';
import type { User } from '../context.ts';

/** Older answers are still used while auth is asked again: tokens that have ended are listed within a second. */
const FRESH_MS = 60_000;
/** How long an answer is valid when auth cannot be asked: as long as an access token would be. */
const STALE_MS = 3_600_000;
/** For valid tokens, and the same again for invalid ones: a flood of random tokens cannot evict valid ones. */
const CACHE_SIZE = 50_000;
/** More would overload auth. Tokens that are already cached are not affected. */
const MOST_UNDER_WAY = 64;
const MOST_WAITING = 1_000;

/** Personal access tokens, which users create for programs. Only auth knows them, by their hashes. */
export interface PersonalTokens {
  /**
   * The token's user; undefined when it is invalid. `callerOf` reports who asks, so that one caller's many tokens do not hold up those of others.
   * @throws AppError SERVICE_UNAVAILABLE when auth cannot be asked
   */
  userOf(token: string, callerOf: () => string): Promise<User | undefined>;
}

export interface PersonalTokensDeps {
  auth: Pick<AuthInternal, 'findPersonalToken'>;
  clock: Clock;
}

interface Answer {
  user: User | undefined;
  /** Unix milliseconds. */
  askedAt: number;
}

export function createPersonalTokens({ auth, clock }: PersonalTokensDeps): PersonalTokens {
  const [good, bad] = [new ExpiringCache<Answer>(CACHE_SIZE), new ExpiringCache<Answer>(CACHE_SIZE)];
  const underWay = new Map<string, Promise<Answer>>();
  const turns = createFairQueue({
    concurrency: MOST_UNDER_WAY,
    maxWaiting: MOST_WAITING,
    failsTogether: true,
    refusal: () => unavailable('Too many tokens are being checked right now; try again.'),
  });

  const ask = async (hash: string): Promise<Answer> => {
    const askedAt = clock.now();
    const known = await auth.findPersonalToken(hash);
    const answer = { user: known ? userOf(known) : undefined, askedAt };
    const [cache, other] = known ? [good, bad] : [bad, good];
    other.delete(hash);
    cache.set(hash, answer, askedAt + STALE_MS);
    return answer;
  };

  /** Once for all who ask at the same time. */
  const askOnce = (hash: string, callerOf: () => string): Promise<Answer> => {
    const asked = underWay.get(hash);
    if (asked) return asked;
    const asking = turns.run(callerOf(), () => ask(hash)).finally(() => underWay.delete(hash));
    underWay.set(hash, asking);
    return asking;
  };

  /** Requests never wait for auth when it has answered before: it may be slow, or frozen. */
  const answerFor = async (hash: string, callerOf: () => string): Promise<Answer> => {
    const nowMs = clock.now();
    const known = good.get(hash, nowMs) ?? bad.get(hash, nowMs);
    if (!known) return askOnce(hash, callerOf);
    if (nowMs >= known.askedAt + FRESH_MS) askOnce(hash, callerOf).catch(() => undefined); // the next request asks again
    return known;
  };

  return {
    async userOf(token, callerOf) {
      const { user } = await answerFor(hashOfPersonalToken(token), callerOf);
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
