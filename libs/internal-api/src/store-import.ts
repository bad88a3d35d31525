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
      /** `archive`: never restorable, whatever its rows are. `version`: another release may restore it. */
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
