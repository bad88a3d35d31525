import type { EntityManager } from '@mikro-orm/core';
import { ACCESS_TOKEN_MAX_TTL_S, CLOCK_SKEW_S, EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import type { PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import type { Session } from './session.entities.ts';
import { LIST_ENDED } from './session.statements.ts';

/** No gateway caches what it knows of a personal token for longer. */
const TOKEN_CACHED_MS = ACCESS_TOKEN_MAX_TTL_S * 1_000;

/** Sessions whose tokens expired before this need not be listed as ended, as their tokens are refused anyway, also by a gateway whose clock is behind. */
export const FORGOTTEN_AFTER_S = EXPIRED_TOKEN_GRACE_S + CLOCK_SKEW_S;

export function forgottenBefore(nowMs: number): Date {
  return new Date(nowMs - FORGOTTEN_AFTER_S * 1_000);
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

/** Ends personal tokens that the caller has locked, within the caller's transaction: they are gone here, and in the list that gateways read. */
export async function endTokens(em: EntityManager, tokens: PersonalToken[], now: Date): Promise<EndedSession[]> {
  for (const token of tokens) em.remove(token);
  const latest = now.getTime() + TOKEN_CACHED_MS;
  const ended = tokens.map(({ id, expiresAt }) => ({
    sessionId: id,
    until: new Date(Math.min(expiresAt.getTime(), latest)),
  }));
  return listEnded(em, ended, now);
}

/** Which sessions to end, within the caller's transaction, which has locked the account. */
export interface SessionsToEnd {
  accountId: string;
  /** The one that stays. */
  kept?: string | null;
  now: Date;
  /** From where, for an entry in the audit trail for each; absent: without entries. */
  recordedFrom?: RequestOrigin;
}

interface EndedSessions {
  /** How many of them could still be used. */
  usable: number;
  /** Those whose access tokens might still be accepted, at most 1,000: gateways read the others from the list. */
  ended: EndedSession[];
}

/** Ends many sessions in one statement, which is one of those for that; `more` are its further parameters. */
export async function endMany(
  em: EntityManager,
  statement: string,
  { accountId, kept = null, now, recordedFrom }: SessionsToEnd,
  ...more: unknown[]
): Promise<EndedSessions> {
  await em.flush();
  const { ip = null, requestId = null } = recordedFrom ?? {};
  const isRecorded = recordedFrom !== undefined;
  const values = [accountId, kept, now, forgottenBefore(now.getTime()), isRecorded, ip, requestId, ...more];
  const [outcome] = await execute<EndedSessions>(em, statement, values);
  return outcome ?? { usable: 0, ended: [] };
}

/**
 * Lists what has ended, unless its tokens have expired; `until` is when the last of them does. The counter is the last lock that
 * a transaction takes, so the list's sequence has no gaps and follows the order of commits: who has read up to a
 * number has missed nothing before it.
 */
async function listEnded(
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

function execute<Row extends object>(em: EntityManager, statement: string, values: unknown[]): Promise<Row[]> {
  return em.getConnection().execute<Row[]>(statement, values, 'all', em.getTransactionContext());
}
