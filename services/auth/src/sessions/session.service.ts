import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import type { AuthInternal, EndedSession } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { AccountEntity, type Account } from '../accounts/account.entity.ts';
import { recordFact } from '../audit/audit.ts';
import type { RequestOrigin } from '../audit/request-origin.ts';
import type { Limits } from '../limits/limits.ts';
import { hashOf } from '../opaque-token.ts';
import { endSessions, forgottenBefore } from './end-sessions.ts';
import type { SessionMaker } from './new-session.ts';
import type { OpenedSession } from './opened-session.ts';
import { RefreshTokenEntity } from './refresh-token.entity.ts';
import { familyHashOf } from './refresh-token.ts';
import { SessionEntity, type Session } from './session.entity.ts';
import type { SessionRepository } from './session.repository.ts';
import { refreshTokenUnusable, sessionHasEnded } from './sessions.errors.ts';

export interface OpenOptions {
  /** The version of the password that was checked. */
  passwordVersion: number;
  withRefreshToken: boolean;
  origin: RequestOrigin;
}

export interface RefreshOptions {
  withRefreshToken: boolean;
  origin: RequestOrigin;
  /** Told when the token had been used before, which ends its session: before the refusal. */
  onReuse: (ended: EndedSession[]) => void;
}

export interface SessionService {
  /** Undefined when the account has another password by now. */
  open(account: Account, options: OpenOptions): Promise<OpenedSession | undefined>;
  /** Uses the token up. @throws AppError UNAUTHENTICATED, RATE_LIMITED, which leaves it as it is */
  refresh(refreshToken: string, options: RefreshOptions): Promise<OpenedSession>;
  /** Ends one living session of this account. @throws AppError UNAUTHENTICATED when there is no such */
  end(user: { userId: string; sessionId: string }, origin: RequestOrigin): Promise<EndedSession[]>;
  endedSessions: AuthInternal['endedSessions'];
}

export interface SessionServiceOptions {
  database: Database;
  repository: SessionRepository;
  maker: SessionMaker;
  limits: Pick<Limits, 'countRefreshTry' | 'countRefresh'>;
  clock: Clock;
}

interface Renewal {
  session: Session;
  account: Account;
  withRefreshToken: boolean;
  former: string | undefined;
}

type Refreshed = { opened: OpenedSession } | { reused: EndedSession[] } | undefined;

export function createSessionService(options: SessionServiceOptions): SessionService {
  const { database, repository, maker, limits, clock } = options;
  const inTransaction = <Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> =>
    whileAway({ kind: 'write' }, () => database.em().transactional(work));

  const refreshIn = async (em: EntityManager, given: string, options: RefreshOptions): Promise<Refreshed> => {
    const { withRefreshToken, origin } = options;
    const refreshFamily = familyHashOf(given);
    const found = await em.findOne(RefreshTokenEntity, hashOf(given));
    const session = await lockLiving(em, found ? { id: found.sessionId } : { refreshFamily });
    if (!session) return undefined;
    // Only now, behind the session's lock, is it sure who came first.
    const token = found && (await em.refresh(found));
    const isOfFamily = session.refreshFamily === refreshFamily;
    const now = new Date(clock.now());
    if (token ? token.expiresAt <= now : !isOfFamily) return undefined;
    const fact = { at: now, accountId: session.accountId, sessionId: session.id, origin };
    if (!token || token.usedAt) {
      recordFact(em, { ...fact, kind: 'session.refresh_token_reused' });
      return { reused: await endSessions(em, [session], now) };
    }
    await limits.countRefresh(session.id);
    // Nothing is kept of a used token that the session's family tells.
    if (isOfFamily) em.remove(token);
    else token.usedAt = now;
    const account = await em.findOneOrFail(AccountEntity, session.accountId);
    const opened = await renew(em, { session, account, withRefreshToken, former: isOfFamily ? given : undefined });
    recordFact(em, { ...fact, kind: 'session.refreshed' });
    return { opened };
  };

  const renew = async (em: EntityManager, { session, account, ...options }: Renewal): Promise<OpenedSession> => {
    const { accessToken, now, tokensUntil, refresh, expiresAt } = await maker.freshTokens(session.id, account, options);
    if (tokensUntil > session.tokensUntil) session.tokensUntil = tokensUntil;
    if (expiresAt > session.expiresAt) session.expiresAt = expiresAt;
    if (refresh) {
      const { hash, familyHash, expiresAt: refreshUntil } = refresh;
      session.refreshFamily = familyHash;
      em.persist(
        em.create(RefreshTokenEntity, { hash, sessionId: session.id, createdAt: now, expiresAt: refreshUntil }),
      );
    }
    return { sessionId: session.id, accessToken, refreshToken: refresh?.token, expiresIn: maker.expiresIn, account };
  };

  return {
    async open(account, { passwordVersion, withRefreshToken, origin }) {
      const session = await maker.prepare(account, { withRefreshToken });
      return (await repository.insert(session, passwordVersion, origin)) ? session.opened : undefined;
    },
    async refresh(refreshToken, options) {
      await limits.countRefreshTry(options.origin.ip);
      const refreshed = await inTransaction((em) => refreshIn(em, refreshToken, options));
      if (refreshed && 'opened' in refreshed) return refreshed.opened;
      if (refreshed) options.onReuse(refreshed.reused);
      throw refreshTokenUnusable();
    },
    end: ({ userId, sessionId }, origin) =>
      inTransaction(async (em) => {
        const session = await lockLiving(em, { id: sessionId });
        if (session?.accountId !== userId) throw sessionHasEnded();
        const now = new Date(clock.now());
        recordFact(em, { kind: 'session.ended', at: now, accountId: userId, sessionId, origin });
        return endSessions(em, [session], now);
      }),
    endedSessions: (after) => repository.listEnded(after, forgottenBefore(clock.now())),
  };
}

function lockLiving(em: EntityManager, which: { id: string } | { refreshFamily: string }): Promise<Session | null> {
  return em.findOne(SessionEntity, { ...which, endedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
