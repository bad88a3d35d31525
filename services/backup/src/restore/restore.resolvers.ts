import { badUserInput } from '@taskmesh/contracts';
import { asSeenRestore, forOperators } from '@taskmesh/internal-api';
import type {
  MutationResolvers,
  MutationRestoreBackupArgs,
  QueryResolvers,
  RestoreResult,
} from '../graphql/types.generated.ts';
import type { Skipped } from '@taskmesh/pg-rows';
import type { StoreName } from '../databases/store.ts';
import type { DryRun, RestoreForecast } from './dry-run.ts';
import type { RestoreOutcome } from './restore-outcome.ts';
import type { Restore } from './restore.entity.ts';
import type { RestoreOptions, RestoreService, Undoable, UndoOptions } from './restore.service.ts';
import { isListableName } from '../storage/archive-name.ts';
import { wantedStores } from '../databases/wanted-stores.ts';

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
        forecastOf(await dryRun(file, { ...restoreOptionsOf(parameters), onProgress: () => undefined })),
      ),
      newEpoch: forOperators(async ({ atLeast }) => ({ epoch: await service.newEpoch(atLeast) })),
      undoRestore: forOperators(async ({ restoredAt }) =>
        restoreResultOf(await service.undo(undoOptionsOf(restoredAt))),
      ),
    },
  };
}

/** @throws AppError BAD_USER_INPUT */
export function restoreOptionsOf({
  allowLoss,
  stores,
  safetyBackup,
  decryptedFrom,
}: Omit<MutationRestoreBackupArgs, 'file'>): Omit<RestoreOptions, 'onProgress'> {
  return {
    allowsLoss: allowLoss ?? false,
    only: wantedStores(stores),
    withSafetyBackup: safetyBackup ?? undefined,
    decryptedFrom: archiveNameOf(decryptedFrom),
  };
}

function archiveNameOf(name: string | null | undefined): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (isListableName(name)) return name;
  const message = 'must be the name of an archive';
  throw badUserInput([{ path: 'decryptedFrom', message }], `decryptedFrom ${message}.`);
}

/** @throws AppError BAD_USER_INPUT */
export const undoOptionsOf = (restoredAt: unknown): Pick<UndoOptions, 'seen'> =>
  restoredAt === undefined || restoredAt === null ? {} : { seen: new Date(asSeenRestore(restoredAt)) };

const RESTORED = 'Database restored; the application may need a restart.';
const ONE_STORE: Record<StoreName, string> = {
  tasks: 'Only the store tasks was replaced: if there are tasks of accounts that are gone, nobody sees them.',
  auth: 'Only the store auth was replaced: if there are tasks of accounts that are gone, they stay and nobody sees them.',
};
const PENDING = 'Some of what was replaced could not be removed yet; that goes on in the background.';

export function restoreResultOf(outcome: RestoreOutcome): RestoreResult {
  switch (outcome.kind) {
    case 'restored':
      return restoredResultOf(outcome);
    case 'processed':
      return {
        ...BASE,
        success: true,
        message: `Archive processed: the database was not restored (${outcome.why}). No restart is needed.`,
        outcome: 'PROCESSED',
        safetyBackup: outcome.safetyBackup ?? null,
      };
    case 'file-missing':
      return refused('FILE_MISSING', 'The name of a backup file is needed.');
    case 'outside':
      return refused('FILE_OUTSIDE', 'The file lies outside of the backups directory.');
    case 'not-found':
      return refused('FILE_NOT_FOUND', 'There is no such backup file.');
    case 'extraction-failed':
      return refused('EXTRACTION_FAILED', outcome.error);
    case 'failed':
      return refused('FAILED', outcome.error);
    case 'unknown':
      return {
        ...refused(
          'UNKNOWN',
          'A server was lost at the moment of the swap: whether the database was restored is not known yet. It is found out in the background, see the log; all stores are replaced then, or none.',
        ),
        message: 'Not known yet.',
        safetyBackup: outcome.safetyBackup ?? null,
      };
    case 'nothing-to-undo':
      return refused('NOTHING_TO_UNDO', 'There is no restore whose former stores are still kept.');
    case 'other-restore':
      return refused(
        'OTHER_RESTORE',
        'Nothing was undone: the last restore is another one by now. Look again at which one can be undone.',
      );
    case 'busy':
      return refused('BUSY', 'Another restore is running; try again later.');
  }
}

function restoredResultOf(outcome: Extract<RestoreOutcome, { kind: 'restored' }>): RestoreResult {
  const { isCleanUpPending, skipped, dropped, onlyStore, safetyBackup = null, keptUntil, takenBack } = outcome;
  const told = takenBack ? undoneText(takenBack, keptUntil) : RESTORED;
  const message = [told, onlyStore && ONE_STORE[onlyStore], isCleanUpPending && PENDING].filter(Boolean).join(' ');
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

function refused(outcome: RestoreResult['outcome'], error: string): RestoreResult {
  return { ...BASE, success: false, message: 'Backup not restored.', error, outcome };
}

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
