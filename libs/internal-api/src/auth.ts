import type { KeySet, TokenScope } from '@taskmesh/identity';
import type { ArchivedStore, ImportResult, StoreComparison } from './store-import.ts';
import type { InternalApi } from './define.ts';
import { IMPORT_MS, SMALL_CALL_MS } from './timeouts.ts';

/** A session that has ended: its access tokens count no more, up to `until` (Unix seconds), when the last of them expires. */
export interface EndedSession {
  /** The position in the list of ended sessions: 1, 2, 3 … in the order of the commits. */
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
  /** Ended sessions behind `after` whose tokens live or have just expired, oldest first, at most 10,000; `last` is the newest sequence returned, or the head when there are no more. */
  endedSessions(after: number): Promise<{ last: number; sessions: EndedSession[] }>;
  /** What a gateway saw since it told last, each session or personal token once. A use that is told again changes nothing. */
  noteSessionUses(uses: SessionUse[]): Promise<void>;
  /** A personal token by its hash; null for one that does not count. Whoever keeps the answer keeps it for less than a day. */
  findPersonalToken(hash: string): Promise<KnownToken | null>;
  /** The public halves of every key that signs or signed access tokens that still live. */
  accessTokenKeys(): Promise<KeySet>;
}

/** What auth offers to backup alone: its store, taken out of a restored dump. */
export interface AuthRestore {
  /**
   * Makes a loaded database into a store that can take the place of the living one. `database` is a name on
   * the server of the living store; it holds nothing but bare tables in the schema `restored`, and belongs to the living
   * database's owner. Migrates the schema `public` in it, imports the accounts of `restored`, and drops `restored`.
   * Sessions and tokens are not taken from there. With `archived`, rows are migrated from that version on, and entries of
   * the audit trail that are older than the living one's come along. Keeps no connection to it. May be repeated
   * only after `complete: false`, and never with `archived`.
   */
  importDatabase(database: string, archived?: ArchivedStore | null): Promise<ImportResult>;
  /**
   * After `importDatabase` and right before the swap, while nobody can write to the living store: copies sessions,
   * refresh and reset tokens and the list of ended sessions with its counter from the living store into `database`, for
   * accounts that exist there. Must be quick, only reads the living store, and may be repeated: it replaces what an
   * earlier call copied.
   */
  carryOver(database: string): Promise<void>;
  /** After `importDatabase`: what would change if `database` took the living store's place. Only reads. */
  compare(database: string): Promise<StoreComparison>;
  /** Makes a database that was the living store before a restore fit to be that again, as far as `carryOver` does not: migrates it. */
  resume(database: string): Promise<void>;
}

export const authInternal: InternalApi<AuthInternal> = {
  service: 'auth',
  caller: 'gateway',
  timeoutMs: SMALL_CALL_MS,
  names: ['endedSessions', 'noteSessionUses', 'findPersonalToken', 'accessTokenKeys'],
};

export const authRestore: InternalApi<AuthRestore> = {
  service: 'auth',
  caller: 'backup',
  timeoutMs: IMPORT_MS,
  names: ['importDatabase', 'carryOver', 'compare', 'resume'],
};
