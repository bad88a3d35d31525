import { forOperators, type BackupEntry } from '@taskmesh/internal-api';
import type { Backup } from '../archives/archive.entity.ts';
import type { BackupService } from '../archives/archive.service.ts';
import type { DryRun } from '../restore/dry-run.ts';
import type { RestoreService } from '../restore/restore.service.ts';
import type { Resolvers } from './types.generated.ts';

export interface BackupResolversDeps {
  backups: BackupService;
  restores: RestoreService;
  dryRun: DryRun;
}

export function createBackupResolvers({ backups, restores, dryRun }: BackupResolversDeps): Resolvers {
  return {
    Query: {
      backups: forOperators(async () => (await backups.list()).map(toBackupEntry)),
      backup: forOperators(async ({ file }) => {
        const backup = await backups.find(file);
        return backup ? toBackupEntry(backup) : null;
      }),
      undoableRestore: forOperators(() => restores.undoable()),
    },
    Mutation: {
      createBackup: forOperators(async () => toBackupEntry(await backups.create())),
      verifyBackup: forOperators(async ({ file }) => toBackupEntry(await backups.verify(file))),
      scanBackups: forOperators(() => backups.scan()),
      deleteBackup: forOperators(({ file }) => backups.remove(file)),
      restoreBackup: forOperators(({ file, ...parameters }) => restores.restore(file, undefined, parameters)),
      dryRunRestore: forOperators(({ file, ...parameters }) => dryRun(file, undefined, parameters)),
      newEpoch: forOperators(async ({ atLeast }) => ({ epoch: await restores.newEpoch(atLeast) })),
      undoRestore: forOperators(({ restoredAt }) => restores.undo(undefined, restoredAt)),
    },
  };
}

/** Converts a backup to the form that callers see. */
export function toBackupEntry({ file, sizeBytes, sha256, createdAt, origin, stores, ...proof }: Backup): BackupEntry {
  const { verifiedAt, verifiedVersion, unfitAt, unfitReason } = proof;
  return {
    ...{ file, sizeBytes, origin, stores },
    sha256: sha256 ?? null,
    createdAt: createdAt.toISOString(),
    verifiedAt: verifiedAt?.toISOString() ?? null,
    verifiedVersion: verifiedVersion ?? null,
    unfitAt: unfitAt?.toISOString() ?? null,
    unfitReason: (unfitAt && unfitReason) ?? null,
  };
}
