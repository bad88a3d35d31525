import type { EntityManager } from '@mikro-orm/core';
import { CLOCK_SKEW_S, EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { Session } from './session.entities.ts';
import { END_ALL_SESSIONS, END_OLDEST_SESSIONS, LIST_ENDED } from './session.statements.ts';

/** Sessions whose tokens expired before this need not be listed as ended, as their tokens are refused anyway, also by a gateway whose clock is behind. */
export function forgottenBefore(nowMs: number): Date {
  return new Date(nowMs - (EXPIRED_TOKEN_GRACE_S + CLOCK_SKEW_S) * 1000);
}

/**
 * Ends a session that the caller has locked, within the caller's transaction, and lists it if its access tokens might
 * still be accepted.
 */
export async function endSession(em: EntityManager, session: Session, now: Date): Promise<EndedSession[]> {
  session.endedAt = now;
  // Once its last access token has expired, the row is of no use.
  session.expiresAt = session.tokensUntil;
  return listEnded(em, [{ sessionId: session.id, until: session.tokensUntil }], now);
}

/** Which sessions to end, within the caller's transaction, which has locked the account. */
export interface SessionsToEnd {
  accountId: string;
  /** The one that stays. */
  kept?: string;
  now: Date;
  /** From where, for an entry in the audit trail for each; absent: without entries. */
  recordedFrom?: RequestOrigin;
}

export interface EndedSessions {
  /** How many of them could still be used. */
  usable: number;
  /** Those whose access tokens might still be accepted, at most 1,000: gateways read the others from the list. */
  ended: EndedSession[];
}

/** Ends all of an account's sessions, in one statement. */
export function endAllSessions(em: EntityManager, which: SessionsToEnd): Promise<EndedSessions> {
  return endMany(em, END_ALL_SESSIONS, valuesOf(which));
}

/** Leaves so many sessions beside the one to keep, those that were used last, and ends the others in one statement. */
export function endOldestSessions(em: EntityManager, which: SessionsToEnd, others: number): Promise<EndedSessions> {
  return endMany(em, END_OLDEST_SESSIONS, [...valuesOf(which), others]);
}

/**
 * Lists what has ended, unless its tokens have expired; `until` is when the last of them does. The counter is the last lock that
 * a transaction takes, so the list's sequence has no gaps and follows the order of commits: who has read up to a
 * number has missed nothing before it.
 */
export async function listEnded(
  em: EntityManager,
  all: { sessionId: string; until: Date }[],
  now: Date,
): Promise<EndedSession[]> {
  await em.flush();
  const living = all.filter(({ until }) => until > forgottenBefore(now.getTime()));
  if (living.length === 0) return [];
  const [row] = await execute<{ last: string }>(em, LIST_ENDED, [living.length, JSON.stringify(living)]);
  const before = Number(row?.last) - living.length;
  return living.map(({ sessionId, until }, index) => ({
    sequence: before + index + 1,
    sessionId,
    until: Math.floor(until.getTime() / 1000),
  }));
}

function valuesOf({ accountId, kept, now, recordedFrom }: SessionsToEnd): unknown[] {
  const { ip = null, requestId = null } = recordedFrom ?? {};
  return [accountId, kept ?? null, now, forgottenBefore(now.getTime()), recordedFrom !== undefined, ip, requestId];
}

async function endMany(em: EntityManager, statement: string, values: unknown[]): Promise<EndedSessions> {
  await em.flush();
  const [outcome] = await execute<EndedSessions>(em, statement, values);
  return outcome ?? { usable: 0, ended: [] };
}

function execute<Row extends object>(em: EntityManager, statement: string, values: unknown[]): Promise<Row[]> {
  return em.getConnection().execute<Row[]>(statement, values, 'all', em.getTransactionContext());
}
