import { LockMode, type EntityManager } from '@mikro-orm/core';
import { ACCESS_TOKEN_MAX_TTL_S } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import { listEnded } from '../sessions/ended-session.repository.ts';
import { PersonalTokenEntity, type PersonalToken } from './personal-token.entity.ts';

/** No gateway caches what it knows of a token for longer. */
const HEARD_MS = ACCESS_TOKEN_MAX_TTL_S * 1_000;

/** Its place in the list of what has ended. */
const endOfToken = ({ id, expiresAt }: PersonalToken, now: Date) => ({
  sessionId: id,
  until: new Date(Math.min(expiresAt.getTime(), now.getTime() + HEARD_MS)),
});

/** Ends tokens that the caller has locked, inside the caller's transaction: they are gone here, and in the list that gateways read. */
export async function endTokens(em: EntityManager, tokens: PersonalToken[], now: Date): Promise<EndedSession[]> {
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
