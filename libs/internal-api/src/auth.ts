import type { AccountDeleted } from '@taskmesh/contracts';
import type { KeySet, TokenScope } from '@taskmesh/identity';
import type { ArchivedStore, ImportResult, StoreComparison } from './stores.ts';
import { IMPORT_MS, PROVIDER_MS, SMALL_CALL_MS, type InternalApi } from './calls.ts';

/** A revoked session: its access tokens are void up to `until` (Unix seconds), when the last of them expires. */
export interface EndedSession {
  /** The position in the list of ended sessions, from 1, in commit order. */
  sequence: number;
  sessionId: string;
  until: number;
}

/** When somebody asked with a session: Unix milliseconds. */
export interface SessionUse {
  sessionId: string;
  at: number;
}

/** What somebody's program asks with. Times are Unix seconds. */
export interface KnownToken {
  /** Listed like that of a session once the token has ended. */
  id: string;
  scope: TokenScope;
  userId: string;
  email: string;
  createdAt: number;
  expiresAt: number;
}

/** What auth offers to other services. */
export interface AuthInternal {
  /**
   * Ended sessions after `after` with tokens that are valid or just expired: oldest first, at most 10,000. `last` is
   * the newest sequence returned, or the head when no more follow.
   */
  endedSessions(after: number): Promise<{ last: number; sessions: EndedSession[] }>;
  /** The uses that a gateway saw since its last report, one per session or personal token. Repeating a report changes nothing. */
  noteSessionUses(uses: SessionUse[]): Promise<void>;
  /** Finds a personal token by its hash; null if it is not valid. An answer may be cached for less than a day. */
  findPersonalToken(hash: string): Promise<KnownToken | null>;
  /** The public parts of all keys with which valid access tokens are or were signed. */
  accessTokenKeys(): Promise<KeySet>;
}

/** A position in the account log; `{ epoch: 0, sequence: 0 }` is before the first entry of any log. */
export interface AccountLogPosition {
  epoch: number;
  /** The last entry at this position; 0 is before the first one. */
  sequence: number;
}

export interface AccountChanges {
  epoch: number;
  /** The sequence of the last entry of all. */
  head: number;
  changes: AccountDeleted[];
}

/** What auth offers to tasks alone: the account log. */
export interface AccountsInternal {
  /**
   * Deletions after this position, in order, at most 1,000. For a position of another epoch, or beyond the end, they start from
   * the beginning, so readers must tolerate entries that they know.
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

/** What auth offers to gateways for browsers that sign in at a provider. Its errors are meant for the client. */
export interface AuthSignIn {
  /**
   * `returnTo` is a path on the gateway's origin, `codeChallenge` the SHA-256 of a secret of the page. `location` is at the provider;
   * `binding` must come back with the browser, and only with it.
   */
  begin(
    input: { returnTo?: string | undefined; codeChallenge?: string | undefined },
    origin: RequestOrigin,
  ): Promise<{ location: string; binding: string }>;
  /** `search` is the query that the browser came back with. `location` is a path, with the outcome behind `#`. */
  complete(
    input: { binding: string | undefined; search: string },
    origin: RequestOrigin,
  ): Promise<{ location: string }>;
}

/** What auth offers to backup alone: importing its store from a restored dump. */
export interface AuthRestore {
  /**
   * Turns a loaded database into a store that can replace the live one. `database` is a name on the live store's
   * server; it contains nothing but bare tables in the schema `restored` and belongs to the owner of the live database.
   * Migrates its schema `public`, imports the accounts of `restored`, and drops `restored`. Sessions and tokens are not
   * imported. With `archived`, rows are migrated from that version, and audit entries older than the live store's are
   * included. Keeps no connection to the database. May be repeated only after `complete: false`, and never with
   * `archived`.
   */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /** As `carryOver`, before it and while others write: it then copies only what has changed since. */
  carryOverAhead(database: string): Promise<void>;
  /**
   * Called after `importDatabase` and right before the swap, while nothing can write to the live store. Copies sessions, refresh and reset tokens, the list of ended sessions and the account log with
   * their counters from the live store into `database`, for accounts that exist there, and removes accounts that were
   * deleted since. Only reads the live store. May be repeated.
   */
  carryOver(database: string): Promise<void>;
  /** After `importDatabase`: what would change if `database` replaced the live store. Read-only. */
  compare(database: string): Promise<StoreComparison>;
  /** Migrates a database that was the live store before a restore, so that with `carryOver` it can be that again. */
  resume(database: string): Promise<void>;
  /**
   * After the live store's database was reset to an earlier state by other means: others read the account log from its
   * beginning. Returns the epoch.
   */
  newEpoch(): Promise<number>;
}

export const authInternal: InternalApi<AuthInternal> = {
  service: 'auth',
  caller: { role: 'service', name: 'gateway' },
  timeoutMs: SMALL_CALL_MS,
  names: ['endedSessions', 'noteSessionUses', 'findPersonalToken', 'accessTokenKeys'],
};

export const accountsInternal: InternalApi<AccountsInternal> = {
  service: 'auth',
  caller: { role: 'service', name: 'tasks' },
  timeoutMs: SMALL_CALL_MS,
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
