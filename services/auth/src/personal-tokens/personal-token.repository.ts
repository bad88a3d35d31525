import { LockMode, type EntityManager } from '@mikro-orm/core';
import { ACCESS_TOKEN_MAX_TTL_S, type TokenScope } from '@taskmesh/identity';
import type { EndedSession, KnownToken, SessionUse } from '@taskmesh/internal-api';
import { transactionsOf, type Database } from '@taskmesh/store';
import { accountChange } from '../accounts/account-change.repository.ts';
import { FIND_TOKEN } from '../accounts/account.statements.ts';
import { listEnded } from '../sessions/ended-session.repository.ts';
import { noteUsesOf } from '../sessions/session.statements.ts';
import { PersonalTokenEntity, type PersonalToken } from './personal-token.entity.ts';

/** No gateway caches what it knows of a token for longer. */
const HEARD_MS = ACCESS_TOKEN_MAX_TTL_S * 1_000;

/** Its place in the list of what has ended. */
const endOfToken = ({ id, expiresAt }: PersonalToken, now: Date) => ({
  sessionId: id,
  until: new Date(Math.min(expiresAt.getTime(), now.getTime() + HEARD_MS)),
});

/** Ends tokens that the caller has locked, inside the caller's transaction: they are gone here, and in the list that gateways read. */
async function endTokens(em: EntityManager, tokens: PersonalToken[], now: Date): Promise<EndedSession[]> {
  for (const token of tokens) em.remove(token);
  await em.flush();
  return listEnded(
    em,
    tokens.map((token) => endOfToken(token, now)),
    now,
  );
}

/** For transactions that end all of an account's tokens. */
export const tokensToEnd = (em: EntityManager) => ({
  lockPersonalTokens: (accountId: string) =>
    em.find(PersonalTokenEntity, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } }),
  endPersonalTokens: (tokens: PersonalToken[], now: Date) => endTokens(em, tokens, now),
});

export type PersonalTokenRepository = ReturnType<typeof createPersonalTokenRepository>;

const NOTE_USES = noteUsesOf('personal_tokens', 'true');

export function createPersonalTokenRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, personalTokenTransaction),

    list: (accountId: string, now: Date) =>
      database.retry((em) =>
        em.find(
          PersonalTokenEntity,
          { accountId, expiresAt: { $gt: now } },
          { orderBy: { createdAt: 'desc', id: 'desc' } },
        ),
      ),

    async find(hash: string, now: Date): Promise<KnownToken | null> {
      const [row] = await database.run<TokenRow>('read', FIND_TOKEN, [hash, now]);
      return row ? knownToken(row) : null;
    },

    async noteUses(uses: SessionUse[]): Promise<void> {
      const ids = uses.map(({ sessionId }) => sessionId);
      await database.run('read', NOTE_USES, [ids, uses.map(({ at }) => new Date(at))]); // safe to repeat
    },
  };
}

function personalTokenTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    ...accountChange(em),
    count: (accountId: string, now: Date) => em.count(PersonalTokenEntity, { accountId, expiresAt: { $gt: now } }),
    add: (token: Omit<PersonalToken, 'lastUsedAt'>): PersonalToken => {
      const created = em.create(PersonalTokenEntity, token);
      em.persist(created);
      return created;
    },
    lock: (id: string, accountId: string, now: Date) =>
      em.findOne(PersonalTokenEntity, { id, accountId, expiresAt: { $gt: now } }, locked),
    end: (tokens: PersonalToken[], now: Date) => endTokens(em, tokens, now),
  };
}

/** Numerics are returned as strings. */
interface TokenRow {
  id: string;
  scope: TokenScope;
  user_id: string;
  email: string;
  created_ms: string;
  expires_ms: string;
}

function knownToken({ id, scope, user_id: userId, email, created_ms, expires_ms }: TokenRow): KnownToken {
  const seconds = (ms: string) => Math.floor(Number(ms) / 1_000);
  return { id, scope, userId, email, createdAt: seconds(created_ms), expiresAt: seconds(expires_ms) };
}
