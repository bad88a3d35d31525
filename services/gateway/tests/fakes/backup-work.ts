import { conflict, notFound } from '@taskmesh/contracts';
import {
  type BackupEntry,
  type BackupWork,
  type RestoreEnd,
  type WorkProgress,
  requireOperator,
  type SubgraphContext,
} from '@taskmesh/internal-api';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface FakeBackupWork {
  work: BackupWork;
  /** Its part of the graph, with the same archives. */
  resolvers: Record<'Query' | 'Mutation', Record<string, Resolver>>;
  archives: Map<string, Buffer>;
  /** Makes the next call fail with this error. */
  failNext(error: Error): void;
  /** The outcomes of the next undos; without any, they succeed. */
  undos: RestoreEnd['outcome'][];
}

type Resolver = (parent: unknown, args: never, context: SubgraphContext) => unknown;

/** The backup service, with archives in memory. */
export function createFakeBackupWork(): FakeBackupWork {
  const archives = new Map<string, Buffer>();
  const progress: WorkProgress[] = [{ phase: 'dump', store: 'tasks', doneBytes: 1, totalBytes: 2 }];
  const undos: RestoreEnd['outcome'][] = [];
  let failure: Error | undefined;
  let made = 0;

  const mayFail = () => {
    const error = failure;
    failure = undefined;
    if (error) throw error;
  };
  const entryOf = (file: string, content: Buffer): BackupEntry => ({
    file,
    sizeBytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    createdAt: '2026-11-20T10:00:00.000Z',
    origin: 'request',
    stores: ['tasks', 'auth'],
    verifiedAt: null,
    verifiedVersion: null,
    unfitAt: null,
    unfitReason: null,
  });
  const find = (file: string) => {
    const content = archives.get(file);
    return content ? entryOf(file, content) : null;
  };

  const work: BackupWork = {
    async create(onProgress) {
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      const file = `made-${++made}.tar.gz`;
      archives.set(file, Buffer.from(`made ${made}`));
      return entryOf(file, Buffer.from(`made ${made}`));
    },
    async verify(file, onProgress) {
      const entry = find(file);
      if (!entry) throw notFound('There is no such backup file.');
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      return { ...entry, verifiedAt: '2026-11-20T11:00:00.000Z', verifiedVersion: '0.1.0' };
    },
    async scan(onProgress) {
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      return { archives: archives.size, added: 1, unread: 0 };
    },
    async restore(file, onProgress, parameters) {
      if (file.startsWith('..')) return refused('FILE_OUTSIDE');
      if (!archives.has(file)) return refused('FILE_NOT_FOUND');
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      const lists = { dropped: ['tasks.invoices'], safetyBackup: 'before.tar.gz' };
      return { success: true, message: JSON.stringify(parameters), error: null, outcome: 'RESTORED', ...lists };
    },
    async dryRun(file, onProgress, { stores } = {}) {
      if (!archives.has(file)) throw notFound('There is no such backup file.');
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      return {
        possible: !stores,
        obstacles: (stores ?? []).map((store) => `${store}: somebody uses it`),
        stores: [{ store: 'tasks', rows: [{ name: 'tasks', now: 2, after: 1 }] }],
        accounts: stores ? null : { now: 3, after: 2, gone: 2, back: 1, sessionsEnding: 4 },
        skipped: [{ kind: 'view', count: 1 }],
        dropped: ['tasks.invoices'],
        tookMs: 12,
      };
    },
    async undo(onProgress, restoredAt) {
      const [outcome = restoredAt === undefined || restoredAt === RESTORED_AT ? 'RESTORED' : 'OTHER_RESTORE'] =
        undos.splice(0, 1);
      if (!outcome.startsWith('RESTORED')) return refused(outcome);
      progress.forEach((step) => onProgress?.(step));
      mayFail();
      return { success: true, message: 'Database restored.', error: null, outcome, dropped: [] };
    },
    async download(file) {
      mayFail();
      const content = archives.get(file);
      const entry = find(file);
      return content && entry
        ? { sizeBytes: content.length, sha256: entry.sha256, content: Readable.from([content]) }
        : undefined;
    },
    async upload(file, content) {
      mayFail();
      const bytes = await buffer(content);
      const there = archives.get(file);
      if (there && !there.equals(bytes)) throw conflict('There is another archive of that name.');
      archives.set(file, bytes);
      return entryOf(file, bytes);
    },
  };

  const resolver =
    <Args>(resolve: (args: Args) => unknown): Resolver =>
    (_parent, args, { identity }) => {
      requireOperator(identity);
      mayFail();
      return resolve(args as Args); // the schema's
    };
  const resolvers: FakeBackupWork['resolvers'] = {
    Query: {
      backups: resolver(() => [...archives].map(([file, content]) => entryOf(file, content))),
      backup: resolver(({ file }: { file: string }) => find(file)),
      undoableRestore: resolver(() => {
        if (undos.shift() === 'NOTHING_TO_UNDO') return null;
        const [restoredAt, keptUntil] = [RESTORED_AT, '2026-11-21T10:00:00.000Z'];
        return { file: 'a.tar.gz', stores: ['tasks'], isUndo: false, restoredAt, keptUntil, replacedKeptMs: 0 };
      }),
    },
    Mutation: {
      deleteBackup: resolver(({ file }: { file: string }) => archives.delete(file)),
      newEpoch: resolver(({ atLeast }: { atLeast?: number | null }) => ({ epoch: atLeast ?? 28_000_000 })),
    },
  };

  return {
    ...{ work, resolvers, archives, undos },
    failNext: (error) => (failure = error),
  };
}

const RESTORED_AT = '2026-11-20T10:00:00.000Z';

function refused(outcome: RestoreEnd['outcome']) {
  return { success: false, message: 'Backup not restored.', error: 'No such file.', outcome, dropped: [] };
}
