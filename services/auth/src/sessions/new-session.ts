import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { signAccessToken } from '@taskmesh/identity';
import type { Clock, Ids } from '@taskmesh/service';
import type { Account } from '../accounts/account.entity.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { createRefreshToken } from './refresh-token.ts';

/** Options for opening or refreshing a session. */
export interface SessionIssueOptions {
  withRefreshToken: boolean;
  origin: RequestOrigin;
}

/** The response to opening or refreshing a session. */
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

const DAY_MS = 86_400_000;

export interface SessionMakerDeps {
  accessTokenTtlSeconds: number;
  refreshTokenTtlDays: number;
  clock: Clock;
  ids: Ids;
  keys: KeyRing;
}

interface FreshTokensOptions {
  withRefreshToken: boolean;
  /** The refresh token that the new one replaces. */
  previousToken?: string | undefined;
  /** The key that signs the session's refresh tokens; undefined: create one. */
  refreshKey?: string | undefined;
}

export type SessionMaker = ReturnType<typeof createSessionMaker>;
export type NewSession = Awaited<ReturnType<SessionMaker['prepare']>>;

/** Creates tokens and the rows that belong to them, but stores nothing. */
export function createSessionMaker({ accessTokenTtlSeconds, refreshTokenTtlDays, clock, ids, keys }: SessionMakerDeps) {
  const freshTokens = async (sessionId: string, { id, email }: Account, options: FreshTokensOptions) => {
    const { withRefreshToken, previousToken, refreshKey } = options;
    const now = new Date(clock.now());
    const iat = Math.floor(now.getTime() / 1000);
    const exp = iat + accessTokenTtlSeconds;
    const claims = { userId: id, email, iat, exp, sub: id, sid: sessionId, jti: ids.next() };
    const accessToken = await signAccessToken(claims, keys.signingKey());
    const tokensUntil = new Date(exp * 1000);
    if (!withRefreshToken) return { accessToken, now, tokensUntil, refresh: undefined, expiresAt: tokensUntil };
    const refreshUntil = new Date(now.getTime() + refreshTokenTtlDays * DAY_MS);
    const refresh = { ...createRefreshToken(previousToken, refreshKey), expiresAt: refreshUntil };
    return { accessToken, now, tokensUntil, refresh, expiresAt: later(tokensUntil, refreshUntil) };
  };

  return {
    expiresIn: accessTokenTtlSeconds,
    /** `expiresAt` is when neither token is valid any more. */
    freshTokens,
    async prepare(account: Account, { withRefreshToken }: Pick<SessionIssueOptions, 'withRefreshToken'>) {
      const sessionId = ids.next();
      const { accessToken, now, tokensUntil, refresh, expiresAt } = await freshTokens(sessionId, account, {
        withRefreshToken,
      });
      const refreshFamily = refresh?.familyHash ?? null;
      const newKey = refresh?.key ?? null;
      return {
        opened: {
          ...{ sessionId, accessToken, refreshToken: refresh?.token, expiresIn: accessTokenTtlSeconds, account },
          ended: [],
        } as OpenedSession,
        row: ({ ip, client }: RequestOrigin) => ({
          ...{ id: sessionId, accountId: account.id, createdAt: now, tokensUntil, expiresAt },
          ...{ refreshFamily, refreshKey: newKey, ip, client },
        }),
        refreshToken: refresh && { hash: refresh.hash, sessionId, createdAt: now, expiresAt: refresh.expiresAt },
        /** The parameters of `OPENING`. */
        values: ({ ip, client, requestId }: RequestOrigin, kind: 'session.opened' | 'account.created'): unknown[] => [
          ...[sessionId, account.id, now, tokensUntil, expiresAt, refresh?.hash ?? null, refresh?.expiresAt ?? null],
          ...[ip, requestId, kind, refreshFamily, client, newKey],
        ],
      };
    },
  };
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
