/** What an archive that was made here says of the store in it; a dump from somewhere else says nothing. */
export interface ArchivedStore {
  /** The newest migration that the store had seen. */
  schemaVersion: string | null;
  /** Whether tables and columns that the store has no place for are left out, rather than a reason to refuse. */
  allowsLoss: boolean;
}

/** What a service says of a database that was loaded from a backup of its store. */
export type ImportResult =
  | {
      complete: true;
      /** Rows that were imported, by table. */
      rows: Record<string, number>;
      /** Tables, and columns as `table.column`, that the store has no place for; they are gone. */
      dropped: string[];
    }
  | {
      complete: false;
      /** One sentence for the operator. */
      reason: string;
      /** `archive`: it is none that is restored, whatever its rows are like. `version`: another release may restore it. */
      concerns?: 'archive' | 'version';
    };

/** Of a table, or of all accounts: how many there are, and how many there would be. */
export interface CountChange {
  now: number;
  after: number;
}

/** Of a table. Where its rows have ids: how many there are now and would not be, and the other way round. */
export interface RowsChange extends CountChange {
  gone?: number;
  back?: number;
}

/** What would change if an imported database took the place of the living store. */
export interface StoreComparison {
  /** Rows, by table. */
  tables: Record<string, RowsChange>;
  /** Of the store that has them. */
  accounts?: AccountsComparison;
}

export interface AccountsComparison extends CountChange {
  /** That are there now, and would not be. */
  gone: number;
  /** That are not there now, and would be. */
  back: number;
  /** Of accounts that would be gone. */
  sessionsEnding: number;
}
