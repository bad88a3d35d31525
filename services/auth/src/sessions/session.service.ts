import { LockMode, type EntityManager } from '@mikro-orm/core';
import { whileAway, type Database } from '@taskmesh/database';
import type { AuthInternal, EndedSession } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { AccountEntity, type Account } from '../accounts/account.entity.ts';
import { recordFact } from '../audit/audit.ts';
import type { RequestOrigin } from '../audit/request-origin.ts';
import { hashOf } from '../opaque-token.ts';
import { endSessions, forgottenBefore } from './end-sessions.ts';
import type { SessionMaker } from './new-session.ts';
import type { OpenedSession } from './opened-session.ts';
import { RefreshTokenEntity } from './refresh-token.entity.ts';
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
  /** Uses the token up. @throws AppError UNAUTHENTICATED */
  refresh(refreshToken: string, options: RefreshOptions): Promise<OpenedSession>;
  /** Ends one living session of this account. @throws AppError UNAUTHENTICATED when there is no such */
  end(user: { userId: string; sessionId: string }, origin: RequestOrigin): Promise<EndedSession[]>;
  endedSessions: AuthInternal['endedSessions'];
}

export interface SessionServiceOptions {
  database: Database;
  repository: SessionRepository;
  maker: SessionMaker;
  clock: Clock;
}

type Refreshed = { opened: OpenedSession } | { reused: EndedSession[] } | undefined;

export function createSessionService(options: SessionServiceOptions): SessionService {
  const { database, repository, maker, clock } = options;
  const inTransaction = <Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> =>
    whileAway({ kind: 'write' }, () => database.em().transactional(work));

  const refreshIn = async (em: EntityManager, hash: string, options: RefreshOptions): Promise<Refreshed> => {
    const { withRefreshToken, origin } = options;
    const found = await em.findOne(RefreshTokenEntity, hash);
    const session = found && (await lockLiving(em, found.sessionId));
    if (!session) return undefined;
    // Only now, behind the session's lock, is it sure who came first.
    const token = await em.refresh(found);
    const now = new Date(clock.now());
    if (!token || token.expiresAt <= now) return undefined;
    const fact = { at: now, accountId: session.accountId, sessionId: session.id, origin };
    if (token.usedAt) {
      recordFact(em, { ...fact, kind: 'session.refresh_token_reused' });
      return { reused: await endSessions(em, [session], now) };
    }
    token.usedAt = now;
    const account = await em.findOneOrFail(AccountEntity, session.accountId);
    const opened = await renew(em, { session, account, withRefreshToken });
    recordFact(em, { ...fact, kind: 'session.refreshed' });
    return { opened };
  };

  const renew = async (
    em: EntityManager,
    { session, account, withRefreshToken }: { session: Session; account: Account; withRefreshToken: boolean },
  ): Promise<OpenedSession> => {
    const { accessToken, now, tokensUntil, refresh, expiresAt } = await maker.freshTokens(session.id, account, {
      withRefreshToken,
    });
    if (tokensUntil > session.tokensUntil) session.tokensUntil = tokensUntil;
    if (expiresAt > session.expiresAt) session.expiresAt = expiresAt;
    if (refresh) {
      const { hash, expiresAt: refreshUntil } = refresh;
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
      const refreshed = await inTransaction((em) => refreshIn(em, hashOf(refreshToken), options));
      if (refreshed && 'opened' in refreshed) return refreshed.opened;
      if (refreshed) options.onReuse(refreshed.reused);
      throw refreshTokenUnusable();
    },
    end: ({ userId, sessionId }, origin) =>
      inTransaction(async (em) => {
        const session = await lockLiving(em, sessionId);
        if (session?.accountId !== userId) throw sessionHasEnded();
        const now = new Date(clock.now());
        recordFact(em, { kind: 'session.ended', at: now, accountId: userId, sessionId, origin });
        return endSessions(em, [session], now);
      }),
    endedSessions: (after) => repository.listEnded(after, forgottenBefore(clock.now())),
  };
}

function lockLiving(em: EntityManager, id: string): Promise<Session | null> {
  return em.findOne(SessionEntity, { id, endedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
