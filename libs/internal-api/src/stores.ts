/**
 * What happens to the rows of one table of a store. The dumper, the import of restored stores, the erasure of accounts
 * and housekeeping read it.
 */
export interface StoreTable {
  /**
   * What an archive holds, and a restore brings back: its `rows`; `nothing`; or the single rows of `state` that a store
   * loaded by psql needs, which a restore replaces by its own. The table itself is in every archive.
   */
  archived: 'rows' | 'state' | 'nothing';
  /** The column with the account that a row belongs to, and is erased with. Absent: rows outlive accounts. */
  owner?: string;
  /** Housekeeping deletes rows when the time in this column has passed. */
  expires?: string;
  /** The setting that limits the age of rows. */
  retention?: 'AUDIT_RETENTION_DAYS' | 'CHANGE_RETENTION_HOURS';
  /** By column: an SQL expression that archives hold instead of the value. */
  replaced?: Readonly<Record<string, string>>;
}

export type StoreTables = Readonly<Record<string, StoreTable>>;

/** Has the length of the secret that it replaces, and is known only to readers of the dump. */
const OTHER_SECRET = `decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`;

const tasks: StoreTables = {
  tasks: { archived: 'rows', owner: 'user_id' },
  task_keys: { archived: 'nothing', owner: 'user_id' },
  /** Where an owner's feed ends is known for good, so that late writes of deleted accounts are refused. */
  feeds: { archived: 'nothing' },
  feed_state: { archived: 'state', replaced: { cursor_key: OTHER_SECRET } },
  changes: { archived: 'nothing', owner: 'owner_id', retention: 'CHANGE_RETENTION_HOURS' },
  dead_letters: { archived: 'nothing', owner: 'owner_id' },
  idempotency_keys: { archived: 'nothing', owner: 'owner_id', expires: 'expires_at' },
  closed_owners: { archived: 'nothing' },
  /** A store loaded by psql reads the account log from its beginning. */
  account_position: { archived: 'state', replaced: { epoch: '0', sequence: '0' } },
  mikro_orm_migrations: { archived: 'state' },
};

/** Secrets and sessions do not leave the store: an old archive in the wrong hands opens nothing. */
const auth: StoreTables = {
  accounts: { archived: 'rows', owner: 'id' },
  linked_identities: { archived: 'rows', owner: 'account_id' },
  /** All but the entry that says that the account was deleted. */
  audit_log: { archived: 'rows', owner: 'account_id', retention: 'AUDIT_RETENTION_DAYS' },
  /** Deletions are remembered for good, so that older archives do not bring accounts back. */
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
  /** The last mail of a deleted account has no account any more. */
  account_mails: { archived: 'nothing', owner: 'account_id' },
  recovery_requests: { archived: 'nothing' },
  pending_sign_ins: { archived: 'nothing', expires: 'expires_at' },
  sign_in_codes: { archived: 'nothing', expires: 'expires_at' },
  mikro_orm_migrations: { archived: 'state' },
};

/** Every table of the stores that are backed up. */
export const STORE_TABLES: Record<'tasks' | 'auth', StoreTables> = { tasks, auth };

/** What the manifest of an archive made by Taskmesh says about a store; dumps from elsewhere have none. */
export interface ArchivedStore {
  /** The newest migration applied to the store. */
  schemaVersion: string | null;
  /** Whether to drop tables and columns that the store lacks, instead of refusing the archive. */
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
      /** `archive`: never restorable, with any rows. `version`: another release may restore it. */
      concerns?: 'archive' | 'version';
    };

export interface CountChange {
  now: number;
  after: number;
}

/** For a table whose rows have ids: how many rows would disappear (`gone`), and how many would appear (`back`). */
export interface RowsChange extends CountChange {
  gone?: number;
  back?: number;
}

export interface StoreComparison {
  tables: Record<string, RowsChange>;
  accounts?: AccountsComparison;
}

export interface AccountsComparison extends CountChange {
  /** Exist now, but not afterwards. */
  gone: number;
  /** Exist afterwards, but not now. */
  back: number;
  sessionsEnding: number;
}
