import { AppError } from '@taskmesh/contracts';
import type { BackupWork } from '@taskmesh/internal-api';
import { asUnavailable } from '@taskmesh/store';
import { finished } from 'node:stream';
import type { BackupService, Download } from './archives/archive.service.ts';
import { entryOf } from './archives/archives.resolvers.ts';
import type { DryRun } from './restore/dry-run.ts';
import type { RestoreService } from './restore/restore.service.ts';

interface BackupWorkDeps {
  backups: BackupService;
  restores: RestoreService;
  dryRun: DryRun;
}

export function createBackupWork({ backups, restores, dryRun }: BackupWorkDeps): BackupWork {
  return {
    create: async (onProgress) => entryOf(await withWords(backups.create(onProgress))),
    verify: async (file, onProgress) => entryOf(await withWords(backups.verify(file, onProgress))),
    scan: (onProgress) => withWords(backups.scan(onProgress)),
    restore: restores.restore,
    dryRun: (...asked) => withWords(dryRun(...asked)),
    undo: restores.undo,
    download: async (file) => {
      const download = await withWords(backups.download(file));
      return download && { sizeBytes: download.sizeBytes, sha256: download.sha256, content: contentOf(download) };
    },
    upload: async (file, content) => entryOf(await withWords(backups.upload(file, content))),
  };
}

/** An unavailable store is not a defect. An AppError is passed on unchanged, with any cause. */
async function withWords<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof AppError ? error : (asUnavailable(error) ?? error);
  }
}

/** Closes the archive when the stream has ended, for any reason. */
function contentOf({ read, close }: Download) {
  const content = read();
  finished(content, () => void close());
  return content;
}
