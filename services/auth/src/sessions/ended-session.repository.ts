import { LockMode, type EntityManager } from '@mikro-orm/core';
import { EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import { EndedSessionCounterEntity, EndedSessionEntity } from './ended-session.entity.ts';
import type { Session } from './session.entity.ts';

/** Sessions whose tokens expired before this need not be listed as ended, as their tokens are refused anyway. */
export function forgottenBefore(nowMs: number): Date {
  return new Date(nowMs - EXPIRED_TOKEN_GRACE_S * 1000);
}

/**
 * Ends sessions that the caller has locked, within the caller's transaction, and lists those whose access tokens might
 * still be accepted. The counter is the last lock that a transaction takes, so the list's sequence has no gaps and
 * follows the order of commits: whoever has read up to a number has missed nothing before it.
 */
export async function endSessions(em: EntityManager, sessions: Session[], now: Date): Promise<EndedSession[]> {
  for (const session of sessions) {
    session.endedAt = now;
    // Once its last access token has expired, the row is of no use.
    session.expiresAt = session.tokensUntil;
  }
  await em.flush();
  return listEnded(
    em,
    sessions.map(({ id, tokensUntil }) => ({ sessionId: id, until: tokensUntil })),
    now,
  );
}

/** Lists what has ended, unless its tokens have expired; `until` is when the last of them does. */
export async function listEnded(
  em: EntityManager,
  all: { sessionId: string; until: Date }[],
  now: Date,
): Promise<EndedSession[]> {
  const living = all.filter(({ until }) => until > forgottenBefore(now.getTime()));
  if (living.length === 0) return [];
  const counter = await em.findOneOrFail(EndedSessionCounterEntity, 1, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
  const ended = living.map((entry, index) => ({ ...entry, sequence: counter.last + index + 1 }));
  counter.last += ended.length;
  for (const entry of ended) em.persist(em.create(EndedSessionEntity, entry));
  await em.flush();
  return ended.map(({ sequence, sessionId, until }) => ({
    sequence,
    sessionId,
    until: Math.floor(until.getTime() / 1000),
  }));
}
