import { parseUuid, unavailable } from '@taskmesh/contracts';
import type { AuthInternal, EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { siteOf } from '@taskmesh/service';
import { lockOwner, type AccountTransaction, type SignedIn } from '../accounts/account-transaction.repository.ts';
import type { Account } from '../accounts/account.entity.ts';
import type { CommonParts } from '../common-parts.ts';
import { hashOf } from '../opaque-token.ts';
import { callerOf } from '../rate-limits.ts';
import { forgetBefore } from './ended-session.repository.ts';
import type { NewSession, OpenedSession, SessionIssueOptions, SessionMaker } from './new-session.ts';
import { familyHashOf, isSigned } from './refresh-token.ts';
import type { Session } from './session.entities.ts';
import type { OwnSession, SessionRepository } from './session.repository.ts';
import { sessionNotFound, refreshTokenUnusable, sessionEnded } from '../auth.errors.ts';

/**
 * While an account has at least this many sessions left, its logins do not wait for each other. It is more than all instances can open
 * at the same time, with ten connections to the store each.
 */
const SPARE = 100;

export interface OpenOptions extends SessionIssueOptions {
  passwordVersion: number;
}

export interface RefreshOptions extends SessionIssueOptions {
  /** Whether the caller has stopped waiting. */
  isCancelled?: (() => boolean) | undefined;
  /** Called before the error is thrown if the token was already used, which ends its session. */
  onReuse: (ended: EndedSession[]) => void;
}

export interface SessionService {
  /** Returns undefined if the password has changed. Ends the account's least recently used sessions if there are too many. */
  open(account: Account, options: OpenOptions): Promise<OpenedSession | undefined>;
  /** Like `open`, as part of a transaction that has locked the account. */
  openIn(transaction: AccountTransaction, account: Account, options: SessionIssueOptions): Promise<OpenedSession>;
  /**
   * Uses up the token, unless it is rate-limited or the caller has stopped waiting for the next one.
   * @throws AppError UNAUTHENTICATED, RATE_LIMITED, SERVICE_UNAVAILABLE
   */
  refresh(refreshToken: string, options: RefreshOptions): Promise<OpenedSession>;
  /** Ends the caller's session. @throws AppError UNAUTHENTICATED if it has already ended */
  end(user: SignedIn, origin: RequestOrigin): Promise<EndedSession[]>;
  /** The usable sessions, newest first, at most 1,000. */
  list(user: SignedIn): Promise<OwnSession[]>;
  /** @throws AppError NOT_FOUND when the caller has no such session, UNAUTHENTICATED when their own has ended meanwhile */
  endOne(user: SignedIn, id: string, origin: RequestOrigin): Promise<{ id: string; ended: EndedSession[] }>;
  /**
   * Ends all sessions except the caller's. `count` includes those whose access tokens have expired. `ended` is limited to 1,000.
   * @throws AppError UNAUTHENTICATED when the caller's own has ended meanwhile
   */
  endOthers(user: SignedIn, origin: RequestOrigin): Promise<{ count: number; ended: EndedSession[] }>;
  endedSessions: AuthInternal['endedSessions'];
}

export interface SessionServiceDeps extends CommonParts {
  repository: SessionRepository;
  maker: SessionMaker;
  /** How many usable sessions an account may have. */
  maxPerAccount: number;
}

interface Renewal extends SessionIssueOptions {
  session: Session;
  account: Account;
  previousToken: string | undefined;
  refreshKey: string | undefined;
}

type Refreshed = { opened: OpenedSession } | { reused: EndedSession[] } | undefined;

/** How many refreshes of one site run at once: each holds a connection, and anyone may send any token. */
const MAX_CONCURRENT_REFRESHES = 4;

/** Refreshes of one session always wait for each other, because they lock its row. */
const refreshQueueKey = (token: string, { ip }: RequestOrigin) =>
  `${siteOf(callerOf(ip))} ${familyHashOf(token).charCodeAt(0) % MAX_CONCURRENT_REFRESHES}`;

export function createSessionService(deps: SessionServiceDeps): SessionService {
  const { inTransaction, repository, maker, limits, clock, maxPerAccount } = deps;
  const now = () => new Date(clock.now());

  const refreshIn = async (
    transaction: AccountTransaction,
    submitted: string,
    options: RefreshOptions,
  ): Promise<Refreshed> => {
    const { withRefreshToken, origin } = options;
    const refreshFamily = familyHashOf(submitted);
    const found = await transaction.findRefreshToken(hashOf(submitted));
    const session = await transaction.lockSession(found ? { id: found.sessionId } : { refreshFamily });
    if (!session) return undefined;
    // Only with the session locked is it certain which request came first.
    const token = found && (await transaction.reread(found));
    const { refreshKey } = session;
    const wasIssued = typeof refreshKey === 'string' && isSigned(submitted, refreshKey);
    const at = now();
    if (token ? token.expiresAt <= at : !wasIssued) return undefined;
    const fact = { at, accountId: session.accountId, sessionId: session.id, origin };
    if (!token || token.usedAt) {
      transaction.record({ ...fact, kind: 'session.refresh_token_reused' });
      const { ended } = await transaction.endSession({ accountId: session.accountId, now: at }, session.id);
      return { reused: ended };
    }
    await limits.countRefresh(session.id);
    await limits.countRefreshed(session.accountId);
    // A signed token need not be kept: its signature identifies it when it is used again.
    if (wasIssued) transaction.remove(token);
    else token.usedAt = at;
    const account = await transaction.findAccount(session.accountId);
    const opened = await renew(transaction, {
      session,
      account,
      withRefreshToken,
      previousToken: session.refreshFamily === refreshFamily ? submitted : undefined,
      refreshKey: refreshKey ?? undefined,
      origin,
    });
    transaction.record({ ...fact, kind: 'session.refreshed' });
    return { opened };
  };

  const renew = async (
    transaction: AccountTransaction,
    { session, account, origin, ...options }: Renewal,
  ): Promise<OpenedSession> => {
    const { accessToken, now, tokensUntil, refresh, expiresAt } = await maker.freshTokens(session.id, account, options);
    if (tokensUntil > session.tokensUntil) session.tokensUntil = tokensUntil;
    // Without a new refresh token, the session ends with its access token.
    if (!refresh || expiresAt > session.expiresAt) session.expiresAt = expiresAt;
    session.lastUsedAt = now;
    session.ip = origin.ip;
    session.client = origin.client;
    if (refresh) {
      const { hash, familyHash, key, expiresAt: refreshUntil } = refresh;
      session.refreshFamily = familyHash;
      session.refreshKey = key;
      transaction.addRefreshToken({ hash, sessionId: session.id, createdAt: now, expiresAt: refreshUntil });
    }
    return {
      ...{ sessionId: session.id, accessToken, refreshToken: refresh?.token, expiresIn: maker.expiresIn, account },
      ended: [],
    };
  };

  /** Requires the account's lock, so that concurrent logins count each other's sessions. */
  const store = async (transaction: AccountTransaction, session: NewSession, origin: RequestOrigin) => {
    const row = session.row(origin);
    const { id: sessionId, accountId, createdAt: at } = row;
    transaction.addSession(row);
    if (session.refreshToken) transaction.addRefreshToken(session.refreshToken);
    transaction.record({ kind: 'session.opened', at, accountId, sessionId, origin });
    const which = { accountId, kept: sessionId, now: at, recordedFrom: origin };
    const { ended } = await transaction.endOldestSessions(which, maxPerAccount - 1);
    return { ...session.opened, ended };
  };

  const openLocked = (session: NewSession, { passwordVersion, origin }: OpenOptions) =>
    inTransaction(async (transaction): Promise<OpenedSession | undefined> => {
      const account = await transaction.lockAccount(session.opened.account.id);
      return account?.passwordVersion === passwordVersion ? store(transaction, session, origin) : undefined;
    }, session.opened.account.id);

  return {
    async open(account, options) {
      await limits.countOpened(account.id);
      const session = await maker.prepare(account, options);
      const isOpen = await repository.insert(session, { ...options, maxSessions: Math.max(0, maxPerAccount - SPARE) });
      return isOpen ? session.opened : openLocked(session, options);
    },
    async openIn(transaction, account, options) {
      await limits.countOpened(account.id);
      return store(transaction, await maker.prepare(account, options), options.origin);
    },
    async refresh(refreshToken, options) {
      await limits.countRefreshAttempt(options.origin.ip);
      const refreshed = await inTransaction(
        async (transaction) => {
          const outcome = await refreshIn(transaction, refreshToken, options);
          // Without the new token, the caller would retry the previous one, which would end the session.
          if (outcome && 'opened' in outcome && options.isCancelled?.()) throw unavailable();
          return outcome;
        },
        refreshQueueKey(refreshToken, options.origin),
      );
      if (refreshed && 'opened' in refreshed) return refreshed.opened;
      if (refreshed) options.onReuse(refreshed.reused);
      throw refreshTokenUnusable();
    },
    end: ({ userId, sessionId }, origin) =>
      inTransaction(async (transaction) => {
        const which = { accountId: userId, now: now(), recordedFrom: origin };
        const { count, ended } = await transaction.endSession(which, sessionId);
        if (count === 0) throw sessionEnded();
        return ended;
      }, userId),
    list: (user) => repository.listUsable(user, now()),
    endOne: (user, id, origin) =>
      inTransaction(async (transaction) => {
        const { id: accountId } = await lockOwner(transaction, user);
        const uuid = parseUuid(id);
        if (uuid === undefined) throw sessionNotFound();
        const { usable, ended } = await transaction.endSession({ accountId, now: now(), recordedFrom: origin }, uuid);
        if (usable === 0) throw sessionNotFound();
        return { id: uuid, ended };
      }, user.userId),
    endOthers: (user, origin) =>
      inTransaction(async (transaction) => {
        const { id: accountId } = await lockOwner(transaction, user);
        const which = { accountId, kept: user.sessionId, now: now(), recordedFrom: origin };
        const { usable, ended } = await transaction.endAllSessions(which);
        return { count: usable, ended };
      }, user.userId),
    endedSessions: (after) => repository.listEnded(after, forgetBefore(clock.now())),
  };
}
