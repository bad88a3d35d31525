import { badUserInput } from '@taskmesh/contracts';
import { asSeenRestore, forOperators, type OnWorkProgress, type RestoreEnd as End } from '@taskmesh/internal-api';
import type { Skipped } from '@taskmesh/pg-rows';
import { wantedStores, type StoreName } from '../databases/store.ts';
import type { MutationResolvers, MutationRestoreBackupArgs, QueryResolvers } from '../graphql/types.generated.ts';
import { isListableName } from '../storage/backup-storage.ts';
import type { DryRun, RestoreForecast } from './dry-run.ts';
import type { Refusal, Restored, RestoreOutcome } from './restore-outcome.ts';
import type { Restore } from './restore.entities.ts';
import type { RestoreOptions, RestoreService, Undoable, UndoOptions } from './restore.service.ts';

export function createRestoreResolvers(
  service: RestoreService,
  dryRun: DryRun,
): {
  Query: Pick<QueryResolvers, 'undoableRestore'>;
  Mutation: Pick<MutationResolvers, 'restoreBackup' | 'dryRunRestore' | 'newEpoch' | 'undoRestore'>;
} {
  return {
    Query: {
      undoableRestore: forOperators(async () => {
        const undoable = await service.undoable();
        return undoable ? undoableOf(undoable) : null;
      }),
    },
    Mutation: {
      restoreBackup: forOperators(async ({ file, ...parameters }) =>
        restoreResultOf(await service.restore(file, restoreOptionsOf(parameters))),
      ),
      dryRunRestore: forOperators(async ({ file, ...parameters }) =>
        forecastOf(await dryRun(file, restoreOptionsOf(parameters))),
      ),
      newEpoch: forOperators(async ({ atLeast }) => ({ epoch: await service.newEpoch(atLeast) })),
      undoRestore: forOperators(async ({ restoredAt }) =>
        restoreResultOf(await service.undo(undoOptionsOf(restoredAt))),
      ),
    },
  };
}

/** @throws AppError BAD_USER_INPUT */
export function restoreOptionsOf(
  { allowLoss, stores, safetyBackup, decryptedFrom }: Omit<MutationRestoreBackupArgs, 'file'>,
  onProgress?: OnWorkProgress,
): RestoreOptions {
  return {
    allowsLoss: allowLoss ?? false,
    only: wantedStores(stores),
    withSafetyBackup: safetyBackup ?? undefined,
    decryptedFrom: archiveNameOf(decryptedFrom),
    onProgress,
  };
}

function archiveNameOf(name: string | null | undefined): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (isListableName(name)) return name;
  const message = 'must be the name of an archive';
  throw badUserInput([{ path: 'decryptedFrom', message }], `decryptedFrom ${message}.`);
}

/** @throws AppError BAD_USER_INPUT */
export const undoOptionsOf = (restoredAt: unknown, onProgress?: OnWorkProgress): UndoOptions => ({
  seen: restoredAt === undefined || restoredAt === null ? undefined : new Date(asSeenRestore(restoredAt)),
  onProgress,
});

/** Also a result of the graph. */
type RestoreEnd = End & Required<Pick<End, 'skipped' | 'safetyBackup'>> & { databaseRestored: boolean };

const RESTORED = 'Database restored; the application may need a restart.';
const ONE_STORE: Record<StoreName, string> = {
  tasks: 'Only the store tasks was replaced: if there are tasks of accounts that are gone, no one sees them.',
  auth: 'Only the store auth was replaced: if there are tasks of accounts that are gone, they stay and no one sees them.',
};
const PENDING = 'Some of what was replaced could not be removed yet; that goes on in the background.';

const REFUSALS: Record<Refusal, [outcome: RestoreEnd['outcome'], error: string]> = {
  'file-missing': ['FILE_MISSING', 'The name of a backup file is needed.'],
  outside: ['FILE_OUTSIDE', 'The file lies outside of the backups directory.'],
  'not-found': ['FILE_NOT_FOUND', 'There is no such backup file.'],
  'extraction-failed': ['EXTRACTION_FAILED', ''],
  failed: ['FAILED', ''],
  unknown: ['UNKNOWN', 'A server was lost at the moment of the swap: whether the database was restored is not known yet. It is found out in the background, see the log; all stores are replaced then, or none.'],
  'nothing-to-undo': ['NOTHING_TO_UNDO', 'There is no restore whose former stores are still kept.'],
  'other-restore': ['OTHER_RESTORE', 'Nothing was undone: the last restore is another one by now. Look again at which one can be undone.'],
  busy: ['BUSY', 'Another restore is running; try again later.'],
}; // prettier-ignore

export function restoreResultOf(outcome: RestoreOutcome): RestoreEnd {
  if (outcome.kind === 'restored') return restoredResultOf(outcome);
  const { kind, safetyBackup = null } = outcome;
  if (kind === 'processed') {
    const message = `Archive processed: the database was not restored (${outcome.why}). No restart is needed.`;
    return { ...BASE, success: true, message, outcome: 'PROCESSED', safetyBackup };
  }
  const [code, text] = REFUSALS[kind];
  const message = kind === 'unknown' ? 'Not known yet.' : 'Backup not restored.';
  return { ...BASE, success: false, message, error: outcome.error ?? text, outcome: code, safetyBackup };
}

function restoredResultOf(outcome: Restored): RestoreEnd {
  const { isCleanUpPending, skipped, dropped, onlyStore, safetyBackup = null, keptUntil, takenBack } = outcome;
  const sentence = takenBack ? undoneText(takenBack, keptUntil) : RESTORED;
  const message = [sentence, onlyStore && ONE_STORE[onlyStore], isCleanUpPending && PENDING].filter(Boolean).join(' ');
  return {
    ...BASE,
    success: true,
    message,
    databaseRestored: true,
    outcome: isCleanUpPending ? 'RESTORED_CLEAN_UP_PENDING' : 'RESTORED',
    skipped: byKind(skipped),
    dropped,
    safetyBackup,
    keptUntil: keptUntil && keptUntil.toISOString(),
  };
}

function undoneText({ file, endedAt, undoes }: Restore, keptUntil: Date | null | undefined): string {
  const what = `the ${undoes === null ? 'restore' : 'undo of a restore'} of ${file} from ${endedAt?.toISOString()}`;
  if (keptUntil === undefined) return `Undone: ${what}.`;
  const kept = keptUntil
    ? `What the undo replaced is kept until ${keptUntil.toISOString()}: another undo brings it back.`
    : 'What the undo replaced is not kept: it cannot be undone.';
  return `Undone: ${what}. ${kept}`;
}

const BASE = {
  error: null,
  databaseRestored: false,
  skipped: [],
  dropped: [],
  safetyBackup: null,
  keptUntil: null,
};

export function forecastOf({ stores, accounts, obstacles, skipped, dropped, tookMs }: RestoreForecast) {
  return {
    possible: obstacles.length === 0,
    obstacles,
    stores: stores.map(({ store, tables }) => ({
      store,
      rows: Object.entries(tables).map(([name, change]) => ({ name, ...change })),
    })),
    accounts: accounts ?? null,
    skipped: byKind(skipped),
    dropped,
    tookMs,
  };
}

export function undoableOf({ kept, replacedKeptMs }: Undoable) {
  const { file, stores, undoes, endedAt, leftUntil } = kept;
  return {
    file,
    stores,
    isUndo: undoes !== null,
    restoredAt: (endedAt as Date).toISOString(), // both are set while it is kept
    keptUntil: (leftUntil as Date).toISOString(),
    replacedKeptMs,
  };
}

function byKind(skipped: Skipped[]): Skipped[] {
  const counts = new Map<string, number>();
  for (const { kind, count } of skipped) counts.set(kind, (counts.get(kind) ?? 0) + count);
  return [...counts].map(([kind, count]) => ({ kind, count }));
}
