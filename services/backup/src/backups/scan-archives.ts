import { whileAway } from '@taskmesh/database';
import { AppError } from '@taskmesh/errors';
import type { Log } from '@taskmesh/service';
import type { Manifest } from '../archives/manifest.ts';
import { peekManifest } from '../archives/peek-manifest.ts';
import { openContent, type ArchiveCipher } from '../encryption/archive-cipher.ts';
import type { BackupStorage } from '../storage/backup-storage.ts';
import { isOwn, type Backup } from './backup.entity.ts';
import type { OnProgress } from './backup-progress.ts';
import type { BackupRepository } from './backup.repository.ts';

export interface ScanDeps {
  storage: BackupStorage;
  repository: BackupRepository;
  cipher: ArchiveCipher | undefined;
  list(): Promise<Backup[]>;
  find(file: string): Promise<Backup | undefined>;
  log: Log;
}

/** What became of a scan. */
export interface BackupScan {
  /** That are there. */
  archives: number;
  /** That the catalogue did not know. */
  added: number;
  /** That it does not know now either, because nobody here can read a manifest: the list has name, size and date. */
  unread: number;
}

/**
 * Brings into the catalogue what lies in the place of the archives and the catalogue does not know, from the manifests. What
 * it knows stays as it is. Who made an archive cannot be seen from it: retention never deletes what a scan has found.
 */
export async function scanArchives(deps: ScanDeps, onProgress: OnProgress): Promise<BackupScan> {
  const { repository, list, find, log } = deps;
  const archives = await list();
  const totalBytes = archives.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
  const scan: BackupScan = { archives: archives.length, added: 0, unread: 0 };
  let doneBytes = 0;
  for (const archive of archives) {
    onProgress({ phase: 'scan', doneBytes, totalBytes });
    doneBytes += Number(archive.sizeBytes);
    if (archive.stores.length > 0) continue; // somebody has looked into it
    const manifest = await manifestOf(archive.file, deps);
    if (!manifest) {
      scan.unread++;
      continue;
    }
    const current = await find(archive.file); // reading takes long: others may have catalogued, proved or deleted it
    if (!current || current.stores.length > 0) continue;
    scan.added++;
    await whileAway({ kind: 'read' }, () => repository.save(describedBy(current, manifest)));
  }
  onProgress({ phase: 'scan', doneBytes, totalBytes });
  log.info({ ...scan }, 'archives scanned');
  return scan;
}

/** Of what was made elsewhere, the manifest says when; that it was made later than it came cannot be. */
export function describedBy(archive: Backup, { createdAt, stores }: Manifest): Backup {
  const madeAt = new Date(Math.min(Date.parse(createdAt), archive.createdAt.getTime()));
  return { ...archive, createdAt: isOwn(archive.origin) ? archive.createdAt : madeAt, stores: Object.keys(stores) };
}

/** Undefined for what is broken, encrypted to others, or from somewhere else. @throws AppError when the storage is away */
export async function manifestOf(
  file: string,
  { storage, cipher, log }: Pick<ScanDeps, 'storage' | 'cipher' | 'log'>,
): Promise<Manifest | undefined> {
  const archive = await storage.open(file);
  if (archive.kind !== 'found') return undefined;
  try {
    return await peekManifest(await openContent(file, archive.read(), cipher));
  } catch (error) {
    if (error instanceof AppError) throw error;
    log.debug({ err: error, file }, 'manifest not read');
    return undefined;
  } finally {
    await archive.close();
  }
}
