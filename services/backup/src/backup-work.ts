import { unavailable } from '@taskmesh/contracts';
import type { BackupWork } from '@taskmesh/internal-api';
import { finished } from 'node:stream';
import type { Download } from './archives/archive.service.ts';
import { toBackupEntry, type BackupResolversDeps } from './graphql/backup.resolvers.ts';

/**
 * A client can make a transfer last as long as it likes, with parts of the archive in memory, so transfers are limited.
 * Other work must not wait for them.
 */
const MAX_TRANSFERS = 4;

export function createBackupWork({ backups, restores, dryRun }: BackupResolversDeps): BackupWork {
  let transfers = 0;
  /** Returns a function to call at the end. @throws AppError SERVICE_UNAVAILABLE */
  const beginTransfer = () => {
    if (transfers >= MAX_TRANSFERS)
      throw unavailable(`${MAX_TRANSFERS} archives are being uploaded or downloaded; try again.`);
    transfers++;
    return () => void transfers--;
  };
  return {
    create: async (onProgress) => toBackupEntry(await backups.create(onProgress)),
    verify: async (file, onProgress) => toBackupEntry(await backups.verify(file, onProgress)),
    scan: backups.scan,
    restore: restores.restore,
    dryRun,
    undo: restores.undo,
    async download(file) {
      const end = beginTransfer();
      let download: Download | undefined;
      try {
        download = await backups.download(file);
        return (
          download && { sizeBytes: download.sizeBytes, sha256: download.sha256, content: contentOf(download, end) }
        );
      } finally {
        if (!download) end();
      }
    },
    async upload(file, content) {
      const end = beginTransfer();
      return toBackupEntry(await backups.upload(file, content, end));
    },
  };
}

/** Closes the archive when the stream ends, for any reason. */
function contentOf({ read, close }: Download, onEnd: () => void) {
  const content = read();
  finished(content, () => void close());
  finished(content, onEnd);
  return content;
}
