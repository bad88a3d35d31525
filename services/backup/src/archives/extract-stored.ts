import type { OnProgress } from './progress.ts';
import { openContent, type ArchiveCipher } from './archive-cipher.ts';
import type { OpenArchive } from '../storage/backup-storage.ts';
import { hasMainDump } from './archive-dumps.ts';
import { extractArchive } from './extract-archive.ts';
import type { ArchiveLimits } from './limits.ts';

export interface StoredExtraction {
  file: string;
  archive: OpenArchive;
  /** An empty folder to which nobody else may write. */
  dir: string;
  onProgress?: OnProgress;
}

export interface ExtractStoredDeps {
  /** Absent: encrypted archives cannot be opened. */
  cipher: ArchiveCipher | undefined;
  archiveLimits: ArchiveLimits;
}

/** Extracts an archive from the storage, decrypted. Returns whether it holds the main dump. @throws ExtractionError */
export async function extractStored(
  { file, archive, dir, onProgress = () => undefined }: StoredExtraction,
  { cipher, archiveLimits: limits }: ExtractStoredDeps,
): Promise<boolean> {
  const { sizeBytes } = archive;
  const source = await openContent(file, archive.read(), cipher);
  const onRead = (bytes: number) =>
    onProgress({ phase: 'extract', doneBytes: Math.min(bytes, sizeBytes), totalBytes: sizeBytes });
  await extractArchive({ source, sizeBytes, dir, limits, onRead });
  return hasMainDump(dir);
}
