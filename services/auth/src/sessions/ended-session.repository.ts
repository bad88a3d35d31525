import type { EntityManager } from '@mikro-orm/core';
import { ACCESS_TOKEN_MAX_TTL_S, CLOCK_SKEW_S, EXPIRED_TOKEN_GRACE_S } from '@taskmesh/identity';
import type { EndedSession, RequestOrigin } from '@taskmesh/internal-api';
import { END_ALL_SESSIONS, END_OLDEST_SESSIONS, END_SESSION, END_TOKENS, LOCK_TOKENS } from './session.statements.ts';

/** The longest that gateways cache a personal token. */
const TOKEN_CACHED_MS = ACCESS_TOKEN_MAX_TTL_S * 1_000;

/** A session whose tokens expired longer ago than this need not be listed: even a gateway whose clock is behind rejects them. */
export const FORGET_AFTER_S = EXPIRED_TOKEN_GRACE_S + CLOCK_SKEW_S;

export function forgetBefore(nowMs: number): Date {
  return new Date(nowMs - FORGET_AFTER_S * 1_000);
}

/** The account whose sessions or tokens end, and the time. */
export interface EndOptions {
  accountId: string;
  /** The session to keep. */
  kept?: string | null;
  now: Date;
  /** The origin to record in the audit trail, with one entry per session; undefined: no entries. */
  recordedFrom?: RequestOrigin;
}

interface Ended {
  count: number;
  /** How many of the ended ones could still be used. */
  usable: number;
  /** The sessions whose access tokens might still be accepted, at most 1,000. Gateways read the others from the list. */
  ended: EndedSession[];
}

/** Ends sessions and personal tokens within a transaction. To end several, the transaction must have locked the account. */
export function endingsOf(em: EntityManager) {
  const end =
    <More extends unknown[]>(statement: string) =>
    async ({ accountId, kept = null, now, recordedFrom }: EndOptions, ...more: More): Promise<Ended> => {
      await em.flush();
      const { ip = null, requestId = null } = recordedFrom ?? {};
      const latest = new Date(now.getTime() + TOKEN_CACHED_MS);
      const parameters = [
        accountId,
        kept,
        now,
        forgetBefore(now.getTime()),
        latest,
        recordedFrom !== undefined,
        ip,
        requestId,
      ];
      const values = [...parameters, ...more];
      const rows = await em.getConnection().execute<Ended[]>(statement, values, 'all', em.getTransactionContext());
      return rows[0] ?? { count: 0, usable: 0, ended: [] };
    };
  const endAllSessions = end<[]>(END_ALL_SESSIONS);
  const endPersonalTokens = end<[id: string | null]>(END_TOKENS);
  return {
    endSession: end<[id: string]>(END_SESSION),
    endAllSessions,
    /** Keeps this many other sessions besides `kept`: the most recently used ones. */
    endOldestSessions: end<[others: number]>(END_OLDEST_SESSIONS),
    /** Ends all tokens, or the one with this id. */
    endPersonalTokens,
    /** Ends all sessions and personal tokens of the account. */
    async endEverything(accountId: string, now: Date): Promise<EndedSession[]> {
      await em.getConnection().execute(LOCK_TOKENS, [accountId], 'all', em.getTransactionContext());
      const { ended } = await endAllSessions({ accountId, now });
      return [...ended, ...(await endPersonalTokens({ accountId, now }, null)).ended];
    },
  };
}
