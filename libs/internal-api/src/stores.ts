import { z } from 'zod';

/**
 * How the rows of one table of a store are treated: by dumps, by the import of restored stores, by the erasure of accounts
 * and by housekeeping.
 */
export interface StoreTable {
  /**
   * What an archive contains of the table, which is itself in every archive: all `rows`, which a restore brings back; `nothing`;
   * or the few rows of `state` that a store loaded by psql needs, and that a restore replaces with its own.
   */
  archived: 'rows' | 'state' | 'nothing';
  /** The column with the account that owns a row; rows are erased with their account. If absent, rows outlive accounts. */
  owner?: string;
  /** Housekeeping deletes a row when the time in this column has passed. */
  expires?: string;
  /** The setting that limits the age of rows. */
  retention?: 'AUDIT_RETENTION_DAYS' | 'CHANGE_RETENTION_HOURS';
  /** SQL expressions, by column, that archives contain instead of the values. */
  replaced?: Readonly<Record<string, string>>;
}

export type StoreTables = Readonly<Record<string, StoreTable>>;

/** A random value as long as the secret that it replaces; only readers of the dump know it. */
const RANDOM_SECRET = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

const tasks: StoreTables = {
  tasks: { archived: 'rows', owner: 'user_id' },
  task_keys: { archived: 'nothing', owner: 'user_id' },
  /** The end of an owner's feed is remembered forever, so that late writes of deleted accounts are refused. */
  feeds: { archived: 'nothing' },
  feed_state: { archived: 'state', replaced: { cursor_key: RANDOM_SECRET } },
  changes: { archived: 'nothing', owner: 'owner_id', retention: 'CHANGE_RETENTION_HOURS' },
  dead_letters: { archived: 'nothing', owner: 'owner_id' },
  idempotency_keys: { archived: 'nothing', owner: 'owner_id', expires: 'expires_at' },
  closed_owners: { archived: 'nothing' },
  /** Makes a store loaded by psql read the account log from its beginning. */
  account_position: { archived: 'state', replaced: { epoch: '0', sequence: '0' } },
  mikro_orm_migrations: { archived: 'state' },
};

/** Secrets and sessions are never archived, so that an old archive in the wrong hands grants no access. */
const auth: StoreTables = {
  accounts: { archived: 'rows', owner: 'id' },
  linked_identities: { archived: 'rows', owner: 'account_id' },
  /** Erasing an account keeps the entry about its deletion. */
  audit_log: { archived: 'rows', owner: 'account_id', retention: 'AUDIT_RETENTION_DAYS' },
  /** Deletions are remembered forever, so that older archives do not bring accounts back. */
  account_log: { archived: 'rows' },
  account_log_state: { archived: 'state' },
  sessions: { archived: 'nothing', owner: 'account_id', expires: 'expires_at' },
  /** Deleted with their sessions. */
  refresh_tokens: { archived: 'nothing' },
  ended_sessions: { archived: 'nothing', expires: 'until' },
  ended_session_counter: { archived: 'state' },
  personal_tokens: { archived: 'nothing', owner: 'account_id', expires: 'expires_at' },
  reset_tokens: { archived: 'nothing', owner: 'account_id', expires: 'expires_at' },
  email_tokens: { archived: 'nothing', owner: 'account_id', expires: 'expires_at' },
  /** The last mail of a deleted account has no owner any more. */
  account_mails: { archived: 'nothing', owner: 'account_id' },
  recovery_requests: { archived: 'nothing' },
  pending_sign_ins: { archived: 'nothing', expires: 'expires_at' },
  sign_in_codes: { archived: 'nothing', expires: 'expires_at' },
  mikro_orm_migrations: { archived: 'state' },
};

/** Every table of the stores that are backed up. */
export const STORE_TABLES: Record<'tasks' | 'auth', StoreTables> = { tasks, auth };

/** A store in an archive made by Taskmesh, according to the manifest. Archives made elsewhere have none. */
export interface ArchivedStore {
  /** The newest migration applied to the store. */
  schemaVersion: string | null;
  /** Whether to leave out tables and columns that the store lacks, instead of refusing the archive. */
  allowsLoss: boolean;
}

export type ImportResult =
  | {
      complete: true;
      rows: Record<string, number>;
      /** Tables, and columns as `table.column`, that were dropped because the store lacks them. */
      dropped: string[];
    }
  | {
      complete: false;
      /** One sentence for the operator. */
      reason: string;
      /** `archive`: no release can restore it. `version`: another release may restore it. Absent: some rows are invalid. */
      concerns?: 'archive' | 'version';
    };

const count = (description: string) => z.int().meta({ description });

const countChange = z.object({ now: count('The number now.'), after: count('The number after the restore.') });

export const rowsChange = countChange.extend({
  gone: count('Rows that would be removed; absent if the rows have no ids.').exactOptional(),
  back: count('Rows that would be added; absent if the rows have no ids.').exactOptional(),
});
export type RowsChange = z.output<typeof rowsChange>;

export interface StoreComparison {
  tables: Record<string, RowsChange>;
  accounts?: AccountsComparison;
}

export const accountsComparison = countChange.extend({
  gone: count('Accounts that would be removed.'),
  back: count('Accounts that would be added.'),
  sessionsEnding: count('Sessions of the accounts that would be removed.'),
});
type AccountsComparison = z.output<typeof accountsComparison>;
