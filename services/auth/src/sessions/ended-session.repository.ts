import { LockMode, type EntityManager } from '@mikro-orm/core';
import { EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import { EndedSessionCounterEntity, EndedSessionEntity } from './ended-session.entity.ts';
import type { Session } from './session.entity.ts';

/** Sessions whose tokens expired before this moment need no place in the list of ended ones: nobody takes their tokens. */
export function forgottenBefore(nowMs: number): Date {
  return new Date(nowMs - EXPIRED_TOKEN_GRACE_S * 1000);
}

/**
 * Ends sessions that the caller has locked, inside the caller's transaction, and lists those with access tokens that
 * may still be shown. The counter is the last lock that a transaction takes: the list's sequence is gapless and in the order of
 * the commits, so whoever has read up to one number has missed nothing before it.
 */
export async function endSessions(em: EntityManager, sessions: Session[], now: Date): Promise<EndedSession[]> {
  for (const session of sessions) {
    session.endedAt = now;
    // Of no use any more once its last token is dead, however long it might have gone on.
    session.expiresAt = session.tokensUntil;
  }
  await em.flush();
  return listEnded(
    em,
    sessions.map(({ id, tokensUntil }) => ({ sessionId: id, until: tokensUntil })),
    now,
  );
}

/** Puts what has ended into the list, as far as it may still be shown; `until` is when the last of its tokens expires. */
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
