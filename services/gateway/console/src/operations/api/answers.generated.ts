export type OperatorsCode = {
  code: string;
};

export type DeadLetterChoice = {
  /** The ids of the dead letters. */
  ids?: Array<string>;
  /** All dead letters; must be true. */
  all?: boolean;
};

export type BackupAnswer = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: Backup;
};

export type Backup = {
  file: string;
  sizeBytes: number;
  /** Of the whole file; null if it was placed there by hand. */
  sha256: string | null;
  /** In UTC, with milliseconds and Z. */
  createdAt: string;
  /** Why it was made: `safety` means right before a restore; `unknown` archives were placed there by hand. */
  origin: "request" | "schedule" | "safety" | "upload" | "unknown";
  /** The databases that it has a dump of, as far as known. */
  stores: Array<string>;
  /** When a test restore of it last succeeded. */
  verifiedAt: string | null;
  /** The version of Taskmesh that made that test restore. */
  verifiedVersion: string | null;
  /** When a test restore or an inspection last showed that it cannot be restored. */
  unfitAt: string | null;
  /** Why it cannot be restored, as part of a sentence. */
  unfitReason: string | null;
};

export type BackupWorkLine = {
  /** On every line except the last. */
  progress?: {
    phase: string;
    store?: string;
    doneBytes?: number;
    totalBytes?: number;
  };
  /** On the last line, with the fields of the ordinary response. */
  status?: number;
  success?: boolean;
  /** For people to read. */
  message?: string;
  error?: string;
  data?: Backup | {
    /** Archives found. */
    archives: number;
    /** Archives that are new to the list. */
    added: number;
    /** Archives whose manifest could not be read here. */
    unread: number;
  } | {
    /** Whether nothing known prevents the databases from being replaced now. */
    possible: boolean;
    /** What prevents it, as `store: reason`. */
    obstacles: Array<string>;
    stores: Array<{
      store: string;
      rows: Array<{
        /** The number now. */
        now: number;
        /** The number after the restore. */
        after: number;
        /** Rows that would be removed; absent if the rows have no ids. */
        gone?: number;
        /** Rows that would be added; absent if the rows have no ids. */
        back?: number;
        /** The name of a table. */
        name: string;
      }>;
    }>;
    /** Null if the restore would not replace accounts. */
    accounts: {
      /** The number now. */
      now: number;
      /** The number after the restore. */
      after: number;
      /** Accounts that would be removed. */
      gone: number;
      /** Accounts that would be added. */
      back: number;
      /** Sessions of the accounts that would be removed. */
      sessionsEnding: number;
    } | null;
    skipped: Array<{
      kind: string;
      count: number;
    }>;
    dropped: Array<string>;
    tookMs: number;
  };
  /** What dumps that were made elsewhere contain besides rows and was skipped; absent if nothing was. In the ordinary response only if `allowLoss` or `safetyBackup` was requested. */
  skipped?: Array<{
    kind: string;
    count: number;
  }>;
  /** Tables and columns that do not exist here and were left out, as `store.table` or `store.table.column`; absent under the same conditions as `skipped`. */
  dropped?: Array<string>;
  /** The archive made right before the restore, if any; absent under the same conditions as `skipped`. */
  safetyBackup?: string;
  /** Until when an undo is possible; null if nothing is kept. */
  keptUntil?: string | null;
  /** On the last line of a restore or an undo. */
  databaseRestored?: boolean;
};

export type BackupList = {
  success: boolean;
  /** For people to read. */
  message: string;
  /** The length of `data`. */
  count: number;
  data: Array<Backup>;
};

export type BackupScanAnswer = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    /** Archives found. */
    archives: number;
    /** Archives that are new to the list. */
    added: number;
    /** Archives whose manifest could not be read here. */
    unread: number;
  };
};

export type Done = {
  success: boolean;
  /** For people to read. */
  message: string;
};

export type RestoreAnswer = {
  success: boolean;
  /** For people to read. */
  message: string;
  /** What dumps that were made elsewhere contain besides rows and was skipped; absent if nothing was. In the ordinary response only if `allowLoss` or `safetyBackup` was requested. */
  skipped?: Array<{
    kind: string;
    count: number;
  }>;
  /** Tables and columns that do not exist here and were left out, as `store.table` or `store.table.column`; absent under the same conditions as `skipped`. */
  dropped?: Array<string>;
  /** The archive made right before the restore, if any; absent under the same conditions as `skipped`. */
  safetyBackup?: string;
};

export type RestoreForecast = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    /** Whether nothing known prevents the databases from being replaced now. */
    possible: boolean;
    /** What prevents it, as `store: reason`. */
    obstacles: Array<string>;
    stores: Array<{
      store: string;
      rows: Array<{
        /** The number now. */
        now: number;
        /** The number after the restore. */
        after: number;
        /** Rows that would be removed; absent if the rows have no ids. */
        gone?: number;
        /** Rows that would be added; absent if the rows have no ids. */
        back?: number;
        /** The name of a table. */
        name: string;
      }>;
    }>;
    /** Null if the restore would not replace accounts. */
    accounts: {
      /** The number now. */
      now: number;
      /** The number after the restore. */
      after: number;
      /** Accounts that would be removed. */
      gone: number;
      /** Accounts that would be added. */
      back: number;
      /** Sessions of the accounts that would be removed. */
      sessionsEnding: number;
    } | null;
    skipped: Array<{
      kind: string;
      count: number;
    }>;
    dropped: Array<string>;
    tookMs: number;
  };
};

export type NewEpochAnswer = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    /** The epoch of all events from now on. */
    epoch: number;
  };
};

export type UndoableRestoreAnswer = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    file: string;
    stores: Array<string>;
    /** Whether it was itself an undo. */
    isUndo: boolean;
    /** In UTC, with milliseconds and Z. */
    restoredAt: string;
    /** In UTC, with milliseconds and Z. */
    keptUntil: string;
    /** How long what an undo replaces would be kept, in milliseconds; 0 means not at all. */
    replacedKeptMs: number;
  };
};

export type OperatorsToken = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    /** To be sent as `Authorization: Bearer <token>` from now on. */
    token: string;
  };
};

export type PlatformStatus = {
  success: boolean;
  /** For people to read. */
  message: string;
  data: {
    /** In UTC, with milliseconds and Z. */
    at: string;
    /** What is wrong, for operators to read; empty if all is well. */
    problems: Array<string>;
    /** For each service, the process that was reached. */
    services: Array<{
      name: "gateway" | "auth" | "tasks" | "backup";
      /** Whether it responds; if not, the other fields are null. */
      isUp: boolean;
      version: string | null;
      /** In UTC, with milliseconds and Z. */
      startedAt: string | null;
      /** Its database; the gateway has none. */
      store: {
        /** Whether the database responds; otherwise nothing else is known. */
        isUp: boolean;
        /** The latest migration. */
        schema: string | null;
        /** Migrations that have not run yet. */
        missing: Array<string>;
        /** Migrations of a newer version. */
        unknown: Array<string>;
      } | null;
    }>;
    /** How far the event log is behind the database of the tasks. */
    feed: {
      /** Increases with each restore. */
      epoch: number;
      /** Changes that are committed but not yet published. */
      pending: number;
      /** The age of the oldest pending change. */
      oldestPendingAgeSeconds: number;
      /** What waits for an operator, by who put it aside. */
      deadLetters: {
        relay: number;
        gateway: number;
      };
    } | null;
    eventLog: {
      system: "kafka" | "memory";
      /** Whether the tasks service can publish to it. */
      isUpForTasks: boolean | null;
      /** Whether this gateway can read it. */
      isUpForGateway: boolean;
    };
    /** Redis, shared by all gateways, or the memory of this one. */
    cache: {
      system: "redis" | "memory";
      isUp: boolean;
    };
    /** Readers of the feed at this gateway. */
    realtime: {
      /** Open sockets and HTTP streams, by protocol. */
      connections: Record<string, number>;
      subscriptions: number;
      /** The number of users whose changes are being read. */
      owners: number;
      /** Bytes that wait for clients to read them. */
      queueBytes: number;
    };
    backups: {
      place: "directory" | "bucket";
      /** Whether new archives are encrypted. */
      isEncrypted: boolean;
      /** Null while the backup storage, or the database that lists them, does not respond. */
      archives: {
        count: number;
        totalBytes: number;
        /** Made here, and not known to be unusable. */
        newest: {
          file: string;
          /** In UTC, with milliseconds and Z. */
          createdAt: string;
          sizeBytes: number;
          /** When a test restore of it last succeeded. */
          verifiedAt: string | null;
        } | null;
        /** Made here, and verified by a test restore. */
        newestProved: {
          file: string;
          /** In UTC, with milliseconds and Z. */
          createdAt: string;
          sizeBytes: number;
          /** When a test restore of it last succeeded. */
          verifiedAt: string | null;
        } | null;
      } | null;
      /** When archives are made (`BACKUP_SCHEDULE`); null: on request only. */
      schedule: {
        /** A cron pattern, in UTC. */
        pattern: string;
        /** In UTC, with milliseconds and Z. */
        nextAt: string | null;
        /** Null unless its last run failed. */
        failingSince: string | null;
      } | null;
      /** When they are verified again (`BACKUP_VERIFY_SCHEDULE`); null: on request only. */
      verifySchedule: {
        /** A cron pattern, in UTC. */
        pattern: string;
        /** In UTC, with milliseconds and Z. */
        nextAt: string | null;
        /** Null unless its last run failed. */
        failingSince: string | null;
      } | null;
      /** Whether each scheduled archive is verified right away. */
      verifiesScheduled: boolean;
      /** How many scheduled archives are kept (`BACKUP_KEEP`); null: all. */
      keep: Record<string, number> | null;
      /** How long a restore can be undone (`RESTORE_KEEP_OLD`). */
      undoableMs: number;
      /** The restore that an undo would take back; null if nothing is kept. Missing while the database of the backups does not respond. */
      undoable?: {
        file: string;
        stores: Array<string>;
        /** Whether it was itself an undo. */
        isUndo: boolean;
        /** In UTC, with milliseconds and Z. */
        restoredAt: string;
        /** In UTC, with milliseconds and Z. */
        keptUntil: string;
        /** How long what an undo replaces would be kept, in milliseconds; 0 means not at all. */
        replacedKeptMs: number;
      } | null;
    } | null;
  };
};

export type DeadLetterList = {
  success: boolean;
  /** For people to read. */
  message: string;
  /** The length of `data`. */
  count: number;
  data: Array<{
    id: string;
    /** `relay`: a change that the event log refused; `gateway`: a record that gateways could not read. */
    source: "relay" | "gateway";
    /** The change in the change log, if known. */
    changeId: string | null;
    ownerId: string | null;
    /** The number of the change among those of its owner. */
    sequence: string | null;
    reason: string;
    /** What a gateway read, up to 64 KiB; it may contain user data. */
    record: string | null;
    /** In UTC, with milliseconds and Z. */
    diedAt: string;
    /** Whether the change is still in the change log. */
    canReplay: boolean;
  }>;
};

export type DeadLettersReplayed = {
  success: boolean;
  /** For people to read. */
  message: string;
  replayed: number;
};

export type DeadLettersDiscarded = {
  success: boolean;
  /** For people to read. */
  message: string;
  discarded: number;
};
