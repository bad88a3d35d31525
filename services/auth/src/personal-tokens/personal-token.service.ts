import { hashOfPersonalToken, newPersonalToken } from '@taskmesh/identity';
import type { EndedSession, KnownToken, RequestOrigin } from '@taskmesh/internal-api';
import { parseInput, parseUuid, personalTokenInput } from '@taskmesh/contracts';
import { lockOwner, type SignedIn } from '../accounts/account-transaction.repository.ts';
import type { OwnToken, PersonalTokenRepository } from './personal-token.repository.ts';
import { expiryIsOutOfRange, noSuchToken, tooManyTokens } from '../auth.errors.ts';
import type { CommonParts } from '../common-parts.ts';

/** Living tokens per account. */
const MOST = 100;
const LONGEST_MS = 366 * 86_400_000;

export interface PersonalTokenService {
  /** The usable tokens, newest first. */
  list(userId: string): Promise<OwnToken[]>;
  /**
   * `token` is returned only here, and never stored.
   * @throws AppError BAD_USER_INPUT, CONFLICT, RATE_LIMITED, UNAUTHENTICATED
   */
  create(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<{ token: string; personalToken: OwnToken }>;
  /** @throws AppError NOT_FOUND when the caller has no such token, UNAUTHENTICATED when their session has ended meanwhile */
  end(user: SignedIn, id: string, origin: RequestOrigin): Promise<{ id: string; ended: EndedSession[] }>;
  /** Finds a token by its `hashOfPersonalToken`; null when it is not valid. */
  find(hash: string): Promise<KnownToken | null>;
}

export interface PersonalTokenServiceDeps extends CommonParts {
  repository: PersonalTokenRepository;
}

export function createPersonalTokenService(deps: PersonalTokenServiceDeps): PersonalTokenService {
  const { inTransaction, repository, limits, clock, ids } = deps;
  const now = () => new Date(clock.now());

  return {
    list: (userId) => repository.list(userId, now()),
    find: (hash) => repository.find(hash, now()),
    async create(user, input, origin) {
      const { userId } = user;
      const { name, scope, expiresAt: until } = parseInput(personalTokenInput, input);
      const expiresAt = new Date(until);
      const lifetimeMs = expiresAt.getTime() - clock.now();
      if (lifetimeMs <= 0 || lifetimeMs > LONGEST_MS) throw expiryIsOutOfRange();
      await limits.countNewToken(userId);
      const token = newPersonalToken();
      const personalToken = await inTransaction(async (transaction) => {
        // A session that has ended must not leave a token behind.
        await lockOwner(transaction, user);
        const at = now();
        if ((await transaction.countPersonalTokens(userId, at)) >= MOST) throw tooManyTokens(MOST);
        const id = ids.next();
        transaction.record({ kind: 'token.created', at, accountId: userId, sessionId: id, origin });
        const hash = hashOfPersonalToken(token);
        transaction.addPersonalToken({ id, accountId: userId, name, scope, hash, createdAt: at, expiresAt });
        const times = { createdAt: at.toISOString(), expiresAt: expiresAt.toISOString(), lastUsedAt: null };
        return { id, name, scope: scope === 'read' ? ('READ' as const) : ('WRITE' as const), ...times };
      }, userId);
      return { token, personalToken };
    },
    end: (user, id, origin) =>
      inTransaction(async (transaction) => {
        const { id: userId } = await lockOwner(transaction, user);
        const uuid = parseUuid(id);
        const at = now();
        const token = uuid === undefined ? null : await transaction.lockPersonalToken(uuid, userId, at);
        if (!token) throw noSuchToken();
        transaction.record({ kind: 'token.ended', at, accountId: userId, sessionId: token.id, origin });
        return { id: token.id, ended: await transaction.endPersonalTokens([token], at) };
      }, user.userId),
  };
}
