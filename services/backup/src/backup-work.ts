import { asUnavailable } from '@taskmesh/store';
import { AppError } from '@taskmesh/contracts';
import type { BackupEntry, BackupWork, RestoreEnd } from '@taskmesh/internal-api';
import type { Backup } from './archives/archive.entity.ts';
import type { BackupService, Download } from './archives/archive.service.ts';
import type { RestoreOutcome } from './restore/restore-outcome.ts';
import type { DryRun } from './restore/dry-run.ts';
import { forecastOf, restoreOptionsOf, restoreResultOf, undoOptionsOf } from './restore/restore.resolvers.ts';
import type { RestoreService } from './restore/restore.service.ts';
import { finished } from 'node:stream';

export function createBackupWork({
  backups,
  restores,
  dryRun,
}: {
  backups: BackupService;
  restores: RestoreService;
  dryRun: DryRun;
}): BackupWork {
  return {
    create: async (onProgress) => entryOf(await told(backups.create(onProgress))),
    verify: async (file, onProgress) => entryOf(await told(backups.verify(file, onProgress))),
    scan: (onProgress) => told(backups.scan(onProgress)),
    restore: async (file, onProgress, parameters = {}) =>
      endOf(await restores.restore(file, { ...restoreOptionsOf(parameters), ...(onProgress && { onProgress }) })),
    dryRun: async (file, onProgress = () => undefined, parameters = {}) =>
      forecastOf(await told(dryRun(file, { ...restoreOptionsOf(parameters), onProgress }))),
    undo: async (onProgress, restoredAt) =>
      endOf(await restores.undo({ ...undoOptionsOf(restoredAt), ...(onProgress && { onProgress }) })),
    download: async (file) => {
      const download = await told(backups.download(file));
      return download && { sizeBytes: download.sizeBytes, sha256: download.sha256, content: contentOf(download) };
    },
    upload: async (file, content) => entryOf(await told(backups.upload(file, content))),
  };
}

function endOf(outcome: RestoreOutcome): RestoreEnd {
  const { error = null, safetyBackup = null, ...end } = restoreResultOf(outcome);
  return { ...end, error, safetyBackup };
}

/** An unavailable store is not a defect. An AppError is passed on unchanged, whatever its cause. */
async function told<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof AppError ? error : (asUnavailable(error) ?? error);
  }
}

/** Closes the archive when the stream has ended, for whatever reason. */
function contentOf({ read, close }: Download) {
  const content = read();
  finished(content, () => void close());
  return content;
}

function entryOf({ file, sizeBytes, sha256, createdAt, origin, stores, ...proof }: Backup): BackupEntry {
  const { verifiedAt, verifiedVersion, unfitAt, unfitReason } = proof;
  return {
    file,
    sizeBytes: Number(sizeBytes),
    sha256: sha256 ?? null,
    createdAt: createdAt.toISOString(),
    origin,
    stores,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    verifiedVersion: verifiedVersion ?? null,
    unfitAt: unfitAt?.toISOString() ?? null,
    unfitReason: (unfitAt && unfitReason) ?? null,
  };
}
