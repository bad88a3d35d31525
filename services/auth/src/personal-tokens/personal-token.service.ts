import { hashPersonalToken, newPersonalToken } from '@taskmesh/identity';
import type { EndedSession, KnownToken, RequestOrigin } from '@taskmesh/internal-api';
import { parseInput, parseUuid, personalTokenInput } from '@taskmesh/contracts';
import { lockOwner, type SignedIn } from '../accounts/account-transaction.repository.ts';
import type { OwnToken } from '../accounts/account.repository.ts';
import { expiryOutOfRange, tokenNotFound, tooManyTokens } from '../auth.errors.ts';
import type { CommonParts } from '../common-parts.ts';

/** Usable tokens per account. */
const MAX_TOKENS = 100;
const MAX_LIFETIME_MS = 366 * 86_400_000;

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
  /** Finds a token by its `hashPersonalToken`; null when it is not valid. */
  find(hash: string): Promise<KnownToken | null>;
}

export function createPersonalTokenService(common: CommonParts): PersonalTokenService {
  const { inTransaction, accounts, limits, clock, ids } = common;
  const now = () => new Date(clock.now());

  return {
    list: (userId) => accounts.listTokens(userId, now()),
    find: (hash) => accounts.findToken(hash, now()),
    async create(user, input, origin) {
      const { userId } = user;
      const { name, scope, expiresAt: until } = parseInput(personalTokenInput, input);
      const expiresAt = new Date(until);
      const lifetimeMs = expiresAt.getTime() - clock.now();
      if (lifetimeMs <= 0 || lifetimeMs > MAX_LIFETIME_MS) throw expiryOutOfRange();
      await limits.countNewToken(userId, origin.ip);
      const token = newPersonalToken();
      const personalToken = await inTransaction(async (transaction) => {
        // An ended session must not create a token.
        await lockOwner(transaction, user);
        const at = now();
        if ((await transaction.countPersonalTokens(userId, at)) >= MAX_TOKENS) throw tooManyTokens(MAX_TOKENS);
        const id = ids.next();
        transaction.record({ kind: 'token.created', at, accountId: userId, sessionId: id, origin });
        const hash = hashPersonalToken(token);
        transaction.addPersonalToken({ id, accountId: userId, name, scope, hash, createdAt: at, expiresAt });
        const times = { createdAt: at.toISOString(), expiresAt: expiresAt.toISOString(), lastUsedAt: null };
        return { id, name, scope: scope === 'read' ? ('READ' as const) : ('WRITE' as const), ...times };
      }, userId);
      return { token, personalToken };
    },
    end: (user, id, origin) =>
      inTransaction(async (transaction) => {
        const { id: accountId } = await lockOwner(transaction, user);
        const uuid = parseUuid(id);
        if (uuid === undefined) throw tokenNotFound();
        const at = now();
        transaction.record({ kind: 'token.ended', at, accountId, sessionId: uuid, origin });
        const { usable, ended } = await transaction.endPersonalTokens({ accountId, now: at }, uuid);
        if (usable === 0) throw tokenNotFound();
        return { id: uuid, ended };
      }, user.userId),
  };
}
