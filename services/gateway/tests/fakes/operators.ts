import {
  type BackupEntry,
  type BackupStatus,
  type BackupWork,
  type DeadLettersInternal,
  type OnWorkProgress,
  requireOperator,
  type RestoreEnd,
  type ServiceStatus,
  type SubgraphContext,
  type TasksStatus,
} from '@taskmesh/internal-api';
import { readVersion } from '@taskmesh/service';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

const AT = '2026-11-20T10:00:00.000Z';
const ENTRY: BackupEntry = {
  ...{ file: 'a.tar.gz', sizeBytes: 4, sha256: 'f'.repeat(64), createdAt: AT, origin: 'request' },
  ...{ stores: ['tasks', 'auth'], verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null },
};
const RESTORED: RestoreEnd = { success: true, message: 'Restored.', error: null, outcome: 'RESTORED', dropped: [] };

async function working<Result>(onProgress: OnWorkProgress | undefined, result: Result): Promise<Result> {
  onProgress?.({ phase: 'dump', store: 'tasks', doneBytes: 1, totalBytes: 2 });
  return result;
}

/** The backup service, where everything succeeds. It has one archive, whose bytes are those of the last upload. */
export function createFakeBackupWork() {
  let stored = Buffer.from('some');
  const work: BackupWork = {
    create: (onProgress) => working(onProgress, ENTRY),
    verify: (file, onProgress) => working(onProgress, { ...ENTRY, file, verifiedAt: AT, verifiedVersion: '0.1.0' }),
    scan: (onProgress) => working(onProgress, { archives: 1, added: 1, unread: 0 }),
    // The message contains the parameters.
    restore: (_file, onProgress, parameters) =>
      working(onProgress, {
        ...{ ...RESTORED, message: JSON.stringify(parameters) },
        ...{ dropped: ['tasks.invoices'], safetyBackup: 'before.tar.gz' },
      }),
    dryRun: (_file, onProgress, { stores = [] } = {}) =>
      working(onProgress, {
        possible: stores.length === 0,
        obstacles: stores.map((store) => `${store}: somebody uses it`),
        stores: [{ store: 'tasks', rows: [{ name: 'tasks', now: 2, after: 1 }] }],
        accounts: { now: 3, after: 2, gone: 2, back: 1, sessionsEnding: 4 },
        ...{ skipped: [{ kind: 'view', count: 1 }], dropped: ['tasks.invoices'], tookMs: 12 },
      }),
    undo: (onProgress) => working(onProgress, RESTORED),
    download: async () => ({ sizeBytes: stored.length, sha256: ENTRY.sha256, content: Readable.from([stored]) }),
    async upload(file, content) {
      stored = await buffer(content);
      return { ...ENTRY, file, sizeBytes: stored.length };
    },
  };

  const resolver =
    <Args>(resolve: (args: Args) => unknown) =>
    (_parent: unknown, args: Args, { identity }: SubgraphContext) => {
      requireOperator(identity);
      return resolve(args);
    };
  const replaced = { file: 'a.tar.gz', stores: ['tasks'], isUndo: false, restoredAt: AT };
  /** Its part of the graph. Files whose names begin with `none` do not exist. */
  const resolvers = {
    Query: {
      backups: resolver(() => [ENTRY]),
      backup: resolver(({ file }: { file: string }) =>
        file.startsWith('none') ? null : { ...ENTRY, file, sizeBytes: stored.length },
      ),
      undoableRestore: resolver(() => ({ ...replaced, keptUntil: AT, replacedKeptMs: 0 })),
    },
    Mutation: {
      deleteBackup: resolver(({ file }: { file: string }) => !file.startsWith('none')),
      newEpoch: resolver(({ atLeast }: { atLeast?: number | null }) => ({ epoch: atLeast ?? 28_000_000 })),
    },
  };
  return { work, resolvers };
}

/** Fake reports of services to operators. */
export function createFakeOperators() {
  const service = (): ServiceStatus => ({
    version: readVersion(),
    startedAt: '2026-11-20T10:00:00.000Z',
    store: { isUp: true, schema: '0001-first', missing: [], unknown: [] },
  });
  /** Tests may change it. */
  const reported: { auth: ServiceStatus; tasks: TasksStatus; backup: BackupStatus } = {
    auth: service(),
    tasks: {
      ...service(),
      feed: { epoch: 1, pending: 0, oldestPendingAgeSeconds: 0, deadLetters: { relay: 0, gateway: 0 } },
      eventLog: { system: 'memory', isUp: true },
    },
    backup: {
      ...service(),
      backups: {
        place: 'directory',
        isEncrypted: false,
        archives: { count: 0, totalBytes: 0, newest: null, newestProved: null },
        schedule: { pattern: '30 3 * * *', nextAt: '2026-11-21T03:30:00.000Z', failingSince: null },
        verifySchedule: null,
        verifiesScheduled: true,
        keep: { last: 3 },
        undoableMs: 86_400_000,
        undoable: null,
      },
    },
  };
  const deadLetters: DeadLettersInternal = {
    deadLetters: async () => [],
    replayDeadLetters: async () => ({ replayed: 1 }),
    discardDeadLetters: async () => ({ discarded: 1 }),
  };
  return {
    auth: { status: async () => reported.auth },
    tasks: { status: async () => reported.tasks },
    backup: { status: async () => reported.backup },
    ...{ deadLetters, reported },
  };
}
