export type OperatorsCode = {
  code: string;
};

export type DeadLetterChoice = {
  /** These. */
  ids?: Array<string>;
  /** All of them. */
  all?: true;
};

export type BackupAnswer = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: Backup;
};

export type Backup = {
  file: string;
  sizeBytes: number;
  /** Of the whole file; null when it was put there by hand. */
  sha256: string | null;
  /** UTC, with milliseconds and Z. */
  createdAt: string;
  /** Who wanted it: `safety` is what a restore replaced, `unknown` was put there by hand. */
  origin: "request" | "schedule" | "safety" | "upload" | "unknown";
  /** The stores that it holds a dump of, as far as is known. */
  stores: Array<string>;
  /** When a test restore of it last succeeded. */
  verifiedAt: string | null;
  /** The version of Taskmesh that proved it. */
  verifiedVersion: string | null;
  /** When a test restore, or a look at all of it, last showed that it is not fit for a restore. */
  unfitAt: string | null;
  /** Why it is not: a part of a sentence. */
  unfitReason: string | null;
};

export type BackupWorkLine = {
  /** On every line but the last. */
  progress?: {
    phase: string;
    store?: string;
    doneBytes?: number;
    totalBytes?: number;
    rows?: number;
  };
  /** On the last line, with the fields of the ordinary answer. */
  status?: number;
  success?: boolean;
  /** A sentence for people. */
  message?: string;
  error?: string;
  data?: Backup | {
    /** That are there. */
    archives: number;
    /** That the list knew little of, and now does. */
    added: number;
    /** Without a manifest that can be read here. */
    unread: number;
  } | {
    /** Whether nothing is known that would keep the stores from being replaced now. */
    possible: boolean;
    /** What would, as `store: reason`. */
    obstacles: Array<string>;
    stores: Array<{
      store: string;
      rows: Array<{
        /** How many there are. */
        now: number;
        /** How many there would be. */
        after: number;
        /** A table. */
        name: string;
        /** That are there now, and would not be. */
        gone?: number;
        /** That are not there now, and would be. */
        back?: number;
      }>;
    }>;
    /** Null where no accounts would be replaced. */
    accounts: {
      /** How many there are. */
      now: number;
      /** How many there would be. */
      after: number;
      /** That are there now, and would not be. */
      gone: number;
      /** That are not there now, and would be. */
      back: number;
      /** Of accounts that would be gone. */
      sessionsEnding: number;
    } | null;
    skipped: Array<{
      kind: string;
      count: number;
    }>;
    dropped: Array<string>;
    tookMs: number;
  };
  /** What the dumps hold beside rows and was passed over; absent when there is nothing, and on the answer in one piece unless `allowLoss` was sent. */
  skipped?: Array<{
    kind: string;
    count: number;
  }>;
  /** What the stores had no place for and was left out: `store.table` or `store.table.column`; absent as `skipped` is. */
  dropped?: Array<string>;
  /** The archive of what was replaced, if one was made; absent as `skipped` is, unless it was asked for. */
  safetyBackup?: string;
  /** Until then an undo brings back what was replaced; null when nothing is kept. */
  keptUntil?: string | null;
  /** On the last line of a restore, or of an undo. */
  databaseRestored?: boolean;
};

export type BackupList = {
  success: true;
  /** A sentence for people. */
  message: string;
  count: number;
  data: Array<Backup>;
};

export type BackupScanAnswer = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    /** That are there. */
    archives: number;
    /** That the list knew little of, and now does. */
    added: number;
    /** Without a manifest that can be read here. */
    unread: number;
  };
};

export type BackupMessage = {
  success: true;
  /** A sentence for people. */
  message: string;
};

export type RestoreAnswer = {
  success: true;
  /** A sentence for people. */
  message: string;
  /** What the dumps hold beside rows and was passed over; absent when there is nothing, and on the answer in one piece unless `allowLoss` was sent. */
  skipped?: Array<{
    kind: string;
    count: number;
  }>;
  /** What the stores had no place for and was left out: `store.table` or `store.table.column`; absent as `skipped` is. */
  dropped?: Array<string>;
  /** The archive of what was replaced, if one was made; absent as `skipped` is, unless it was asked for. */
  safetyBackup?: string;
};

export type RestoreForecast = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    /** Whether nothing is known that would keep the stores from being replaced now. */
    possible: boolean;
    /** What would, as `store: reason`. */
    obstacles: Array<string>;
    stores: Array<{
      store: string;
      rows: Array<{
        /** How many there are. */
        now: number;
        /** How many there would be. */
        after: number;
        /** A table. */
        name: string;
        /** That are there now, and would not be. */
        gone?: number;
        /** That are not there now, and would be. */
        back?: number;
      }>;
    }>;
    /** Null where no accounts would be replaced. */
    accounts: {
      /** How many there are. */
      now: number;
      /** How many there would be. */
      after: number;
      /** That are there now, and would not be. */
      gone: number;
      /** That are not there now, and would be. */
      back: number;
      /** Of accounts that would be gone. */
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
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    /** What the events say from now on. */
    epoch: number;
  };
};

export type UndoableRestoreAnswer = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    file: string;
    stores: Array<string>;
    /** Whether that took another one back. */
    isUndo: boolean;
    /** UTC, with milliseconds and Z. */
    restoredAt: string;
    /** UTC, with milliseconds and Z. */
    keptUntil: string;
    /** For how long what an undo replaces would be kept in its turn; 0: not at all. */
    replacedKeptMs: number;
  };
};

export type OperatorsToken = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    /** Sent as `Authorization: Bearer` from now on. */
    token: string;
  };
};

export type OperationsMessage = {
  success: true;
  /** A sentence for people. */
  message: string;
};

export type PlatformStatus = {
  success: true;
  /** A sentence for people. */
  message: string;
  data: {
    /** UTC, with milliseconds and Z. */
    at: string;
    /** Sentences for operators; none when all is well. */
    problems: Array<string>;
    /** Each by the process that was reached. */
    services: Array<{
      name: "gateway" | "auth" | "tasks" | "backup";
      /** Whether it answers; otherwise the rest is null. */
      isUp: boolean;
      version: string | null;
      startedAt: string | null;
      /** Its database; the gateway has none. */
      store: {
        /** Whether the database answers. */
        isUp: boolean;
        /** The last migration. */
        schema: string | null;
        /** Migrations that are to come. */
        missing: Array<string>;
        /** Migrations of a newer version. */
        unknown: Array<string>;
      } | null;
    }>;
    /** How far the event log is behind the store of the tasks. */
    feed: {
      /** Grows with each restore. */
      epoch: number;
      /** Changes that are committed and not yet published. */
      pending: number;
      /** Of the oldest of them. */
      oldestPendingAgeSeconds: number;
      deadLetters: {
        relay: number;
        gateway: number;
      };
    } | null;
    eventLog: {
      system: "kafka" | "memory";
      /** Whether it can be published to. */
      isUpForTasks: boolean | null;
      /** Whether this gateway can read it. */
      isUpForGateway: boolean;
    };
    /** Redis, which the gateways share, or the memory of this one. */
    cache: {
      system: "redis" | "memory";
      isUp: boolean;
    };
    /** Readers of the feed at this gateway. */
    realtime: {
      /** Open sockets and HTTP streams, by protocol. */
      connections: Record<string, number>;
      subscriptions: number;
      /** Whose changes somebody reads. */
      owners: number;
      /** What waits for clients to read it. */
      queueBytes: number;
    };
    backups: {
      place: "directory" | "bucket";
      /** Whether new archives are. */
      isEncrypted: boolean;
      /** Null while their place, or the database that lists them, does not answer. */
      archives: {
        count: number;
        totalBytes: number;
        /** Made here, and not known to be unfit. */
        newest: {
          file: string;
          /** UTC, with milliseconds and Z. */
          createdAt: string;
          sizeBytes: number;
          /** When a test restore of it last succeeded. */
          verifiedAt: string | null;
        } | null;
        /** Made here, and proved by a restore. */
        newestProved: {
          file: string;
          /** UTC, with milliseconds and Z. */
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
        nextAt: string | null;
        /** Null unless its last run failed. */
        failingSince: string | null;
      } | null;
      /** When they are proved again (`BACKUP_VERIFY_SCHEDULE`); null: on request only. */
      verifySchedule: {
        /** A cron pattern, in UTC. */
        pattern: string;
        nextAt: string | null;
        /** Null unless its last run failed. */
        failingSince: string | null;
      } | null;
      /** Whether each scheduled archive is proved at once. */
      verifiesScheduled: boolean;
      /** How many of the scheduled ones are kept (`BACKUP_KEEP`); null: all. */
      keep: Record<string, number> | null;
      /** How long a restore can be taken back (`RESTORE_KEEP_OLD`). */
      undoableMs: number;
    } | null;
  };
};

export type DeadLetterList = {
  success: true;
  /** A sentence for people. */
  message: string;
  /** The length of `data`. */
  count: number;
  data: Array<{
    id: string;
    /** `relay`: a change that the event log refused; `gateway`: a record that no gateway could read. */
    source: "relay" | "gateway";
    /** In the change log, where it is known. */
    changeId: string | null;
    ownerId: string | null;
    /** Of the change, among those of its owner. */
    sequence: string | null;
    reason: string;
    /** What a gateway read, up to 64 KiB; it can hold texts of users. */
    record: string | null;
    /** UTC, with milliseconds and Z. */
    diedAt: string;
    /** Whether the change is still in the change log. */
    canReplay: boolean;
  }>;
};

export type DeadLettersReplayed = {
  success: true;
  /** A sentence for people. */
  message: string;
  replayed: number;
};

export type DeadLettersDiscarded = {
  success: true;
  /** A sentence for people. */
  message: string;
  discarded: number;
};
