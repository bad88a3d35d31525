import type { KeySet, TokenScope } from '@taskmesh/identity';
import type { ArchivedStore, ImportResult, StoreComparison } from './stores.ts';
import { IMPORT_MS, PROVIDER_MS, SHORT_CALL_MS, type InternalApi } from './calls.ts';

/** A revoked session. Its access tokens must be rejected until `until` (Unix seconds), when the last of them expires. */
export interface EndedSession {
  /** The position in the list of ended sessions, from 1, in commit order. */
  sequence: number;
  sessionId: string;
  until: number;
}

/** The time of a request that used the session, in Unix milliseconds. */
export interface SessionUse {
  sessionId: string;
  at: number;
}

/** A valid personal access token. Times are Unix seconds. */
export interface KnownToken {
  /** Listed among the ended sessions once the token has ended. */
  id: string;
  scope: TokenScope;
  userId: string;
  email: string;
  createdAt: number;
  expiresAt: number;
}

/** Functions of auth for the gateway. */
export interface AuthInternal {
  /**
   * Lists sessions that ended after the position `after` and whose tokens are valid or have just expired: oldest first, at
   * most 10,000. `last` is the newest sequence returned, or the head of the list if no more follow.
   */
  endedSessions(after: number): Promise<{ last: number; sessions: EndedSession[] }>;
  /** Reports the uses since a gateway's last report, one per session or personal token. Repeating a report changes nothing. */
  noteSessionUses(uses: SessionUse[]): Promise<void>;
  /** Finds a personal token by its hash; null if it is not valid. Results may be cached for less than a day. */
  findPersonalToken(hash: string): Promise<KnownToken | null>;
  /** Returns the public parts of all keys that have signed access tokens that may still be valid, or will sign new ones. */
  accessTokenKeys(): Promise<KeySet>;
}

/** A position in the account log; `{ epoch: 0, sequence: 0 }` is before the first entry of any log. */
export interface AccountLogPosition {
  epoch: number;
  /** The last entry at this position; 0 is before the first one. */
  sequence: number;
}

/** An account was deleted for good, so other services delete what they keep for its owner. */
export interface AccountDeleted {
  kind: 'DELETED';
  /** Identifies the log: a reader that sees another epoch reads from the beginning. */
  epoch: number;
  /** Numbers the log's entries without gaps, from 1. */
  sequence: number;
  accountId: string;
  occurredAt: string;
}

export interface AccountChanges {
  epoch: number;
  /** The sequence of the last entry of all. */
  head: number;
  changes: AccountDeleted[];
}

/** Functions of auth for tasks only: the account log. */
export interface AccountsInternal {
  /**
   * Lists the deletions after this position, in order, at most 1,000. For a position of another epoch, or beyond the end, the list
   * starts from the beginning, so readers must tolerate entries that they already know.
   */
  accountChanges(after: AccountLogPosition): Promise<AccountChanges>;
}

/** Where a request came from, for limits and the audit trail. */
export interface RequestOrigin {
  /** The client's address as the gateway saw it; null when unknown. */
  ip: string | null;
  /** The client's user agent; null when it sent none. */
  client: string | null;
  requestId: string;
}

/** Functions of auth for gateways, for browsers that sign in at a provider. Their errors are intended for the client. */
export interface AuthSignIn {
  /**
   * `returnTo` is a path on the gateway's origin, `codeChallenge` the SHA-256 of a secret that the page keeps. `location` is a URL of
   * the provider. `binding` must be returned by the same browser, for instance in a cookie.
   */
  begin(
    input: { returnTo?: string | undefined; codeChallenge?: string | undefined },
    origin: RequestOrigin,
  ): Promise<{ location: string; binding: string }>;
  /** `search` is the query with which the browser returned. `location` is a path, with the outcome after `#`. */
  complete(
    input: { binding: string | undefined; search: string },
    origin: RequestOrigin,
  ): Promise<{ location: string }>;
}

/** Functions of auth for backup only: importing its store from a restored dump. */
export interface AuthRestore {
  /**
   * Turns a loaded database into a store that can replace the live one. `database` is a name on the live store's
   * server. It contains only bare tables in the schema `restored`, and has the same owner as the live database.
   * Migrates its schema `public`, imports the accounts of `restored`, and drops `restored`. Sessions and tokens are not
   * imported. With `archived`, rows are migrated from that version, and audit entries older than the live store's are
   * included. Keeps no connection to the database. May be repeated only after `complete: false`, and never with
   * `archived`.
   */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** Like `carryOver`, but called before it, while others still write, so that `carryOver` copies only later changes. */
  carryOverAhead(database: string): Promise<void>;
  /**
   * Called after `importDatabase` and right before the swap, while nothing can write to the live store. Copies sessions, refresh and
   * reset tokens, the list of ended sessions and the account log with their counters from the live store into `database`, for
   * accounts that exist there, and removes accounts that were deleted since the backup. Only reads the live store. May be repeated.
   */
  carryOver(database: string): Promise<void>;
  /** Called after `importDatabase`. Returns what would change if `database` replaced the live store. Read-only. */
  compare(database: string): Promise<StoreComparison>;
  /** Migrates a database that was the live store before a restore, so that after `carryOver` it can be the live store again. */
  resume(database: string): Promise<void>;
  /**
   * Called after the live store's database was reset to an earlier state by other means: makes readers of the account log
   * start from its beginning. Returns the epoch.
   */
  newEpoch(): Promise<number>;
}

export const authInternal: InternalApi<AuthInternal> = {
  service: 'auth',
  caller: { role: 'service', name: 'gateway' },
  timeoutMs: SHORT_CALL_MS,
  names: ['endedSessions', 'noteSessionUses', 'findPersonalToken', 'accessTokenKeys'],
};

export const accountsInternal: InternalApi<AccountsInternal> = {
  service: 'auth',
  caller: { role: 'service', name: 'tasks' },
  timeoutMs: SHORT_CALL_MS,
  names: ['accountChanges'],
};

export const authSignIn: InternalApi<AuthSignIn> = {
  service: 'auth',
  caller: { role: 'service', name: 'gateway' },
  timeoutMs: PROVIDER_MS,
  names: ['begin', 'complete'],
};

export const authRestore: InternalApi<AuthRestore> = {
  service: 'auth',
  caller: { role: 'service', name: 'backup' },
  timeoutMs: IMPORT_MS,
  names: ['importDatabase', 'carryOverAhead', 'carryOver', 'compare', 'resume', 'newEpoch'],
};
