/** What `/api/operations/status` tells; `/api/docs` says more of each field. */
export interface PlatformStatus {
  at: string;
  problems: string[];
  services: ServiceStatus[];
  feed: FeedStatus | null;
  eventLog: { system: 'kafka' | 'memory'; isUpForTasks: boolean | null; isUpForGateway: boolean };
  cache: { isUp: boolean };
  realtime: { connections: Record<string, number>; subscriptions: number; owners: number; queueBytes: number };
  backups: BackupsStatus | null;
}

export interface ServiceStatus {
  name: string;
  isUp: boolean;
  version: string | null;
  startedAt: string | null;
  store: { isUp: boolean; schema: string | null; missing: string[]; unknown: string[] } | null;
}

export interface FeedStatus {
  epoch: number;
  pending: number;
  oldestPendingAgeSeconds: number;
  deadLetters: { relay: number; gateway: number };
}

export interface BackupsStatus {
  place: 'directory' | 'bucket';
  isEncrypted: boolean;
  archives: {
    count: number;
    totalBytes: number;
    newest: KnownArchive | null;
    newestProved: KnownArchive | null;
  } | null;
  schedule: Schedule | null;
  verifySchedule: Schedule | null;
  verifiesScheduled: boolean;
  keep: Record<string, number> | null;
  undoableMs: number;
}

export interface KnownArchive {
  file: string;
  createdAt: string;
  sizeBytes: number;
  verifiedAt: string | null;
}

export interface Schedule {
  pattern: string;
  nextAt: string | null;
  failingSince: string | null;
}

export interface Backup extends KnownArchive {
  origin: 'request' | 'schedule' | 'safety' | 'upload' | 'unknown';
  stores: string[];
  verifiedVersion: string | null;
  unfitAt: string | null;
  unfitReason: string | null;
}

export interface UndoableRestore {
  file: string;
  stores: string[];
  isUndo: boolean;
  restoredAt: string;
  keptUntil: string;
}

export interface DeadLetter {
  id: string;
  source: 'relay' | 'gateway';
  changeId: string | null;
  ownerId: string | null;
  sequence: string | null;
  reason: string;
  record: string | null;
  diedAt: string;
  canReplay: boolean;
}

/** How far work has come. */
export interface Progress {
  phase: string;
  store?: string;
  doneBytes?: number;
  totalBytes?: number;
  rows?: number;
}

/** The last line of work that lasts. */
export interface WorkEnd {
  status: number;
  success: boolean;
  message: string;
  error?: string;
  databaseRestored?: boolean;
  dropped?: string[];
  safetyBackup?: string;
  keptUntil?: string | null;
}
