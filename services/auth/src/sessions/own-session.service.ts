import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { Clock } from '@taskmesh/service';
import { parseUuid } from '@taskmesh/contracts';
import type { SignedIn } from '../accounts/account-change.repository.ts';
import { lockOwner } from './lock-owner.ts';
import type { Session } from './session.entity.ts';
import type { SessionRepository } from './session.repository.ts';
import { noSuchSession } from './session.errors.ts';

export interface OwnSession {
  id: string;
  createdAt: Date;
  /** Accurate to a minute. */
  lastUsedAt: Date;
  ip: string | null;
  client: string | null;
  current: boolean;
}

export interface OwnSessionService {
  /** The usable sessions, newest first, at most 1,000. */
  list(user: SignedIn): Promise<OwnSession[]>;
  /** @throws AppError NOT_FOUND when the caller has no such session, UNAUTHENTICATED when their own has ended meanwhile */
  end(user: SignedIn, id: string, origin: RequestOrigin): Promise<{ id: string; ended: EndedSession[] }>;
  /**
   * All except the caller's; `count` includes those whose access tokens have already expired. `ended` may lack some of thousands.
   * @throws AppError UNAUTHENTICATED when the caller's own has ended meanwhile
   */
  endOthers(user: SignedIn, origin: RequestOrigin): Promise<{ count: number; ended: EndedSession[] }>;
}

export interface OwnSessionServiceDeps {
  repository: SessionRepository;
  clock: Clock;
}

export function createOwnSessionService({ repository, clock }: OwnSessionServiceDeps): OwnSessionService {
  const now = () => new Date(clock.now());
  const isUsable = ({ expiresAt }: Session) => expiresAt > now();

  return {
    async list({ userId, sessionId }) {
      const sessions = await repository.listLiving(userId, now());
      return sessions.map(({ id, createdAt, lastUsedAt, ip, client }) => ({
        ...{ id, createdAt, lastUsedAt: lastUsedAt ?? createdAt, ip: ip ?? null, client: client ?? null },
        current: id === sessionId,
      }));
    },
    end: (user, id, origin) =>
      repository.inTransaction(async (transaction) => {
        const { id: userId } = await lockOwner(transaction, user);
        const uuid = parseUuid(id);
        const session = uuid === undefined ? null : await transaction.lockLiving({ id: uuid, accountId: userId });
        if (!session || !isUsable(session)) throw noSuchSession();
        const at = now();
        transaction.record({ kind: 'session.ended', at, accountId: userId, sessionId: session.id, origin });
        return { id: session.id, ended: await transaction.end(session, at) };
      }, user.userId),
    endOthers: (user, origin) =>
      repository.inTransaction(async (transaction) => {
        const { id: accountId } = await lockOwner(transaction, user);
        const which = { accountId, kept: user.sessionId, now: now(), recordedFrom: origin };
        const { usable, ended } = await transaction.endAllSessions(which);
        return { count: usable, ended };
      }, user.userId),
  };
}
