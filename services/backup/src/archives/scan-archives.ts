import type { BackupScan } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import type { Manifest } from './manifest.ts';
import { fileStateOf, isNewcomer, isOwn, type Backup } from './archive.entity.ts';
import type { OnProgress } from './progress.ts';
import type { BackupRepository } from './archive.repository.ts';
import type { Inspection, Thoroughness } from './inspect-archive.ts';
import { isSameFile } from './same-file.ts';

export interface ScanDeps {
  repository: Pick<BackupRepository, 'takeIn'>;
  list(): Promise<Backup[]>;
  find(file: string): Promise<Backup | undefined>;
  lookInto(file: string, how: Thoroughness): Promise<Inspection>;
  now: () => Date;
  log: Log;
}

/**
 * Adds archives to the catalogue that it lacks, from their manifests, and records which are unfit for a restore. Known
 * ones stay unchanged. An archive does not tell who made it, so retention never deletes what a scan has found.
 */
export async function scanArchives(deps: ScanDeps, onProgress: OnProgress): Promise<BackupScan> {
  const { list, log } = deps;
  const archives = await list();
  const totalBytes = archives.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
  const scan: BackupScan = { archives: archives.length, added: 0, unread: 0 };
  const how = { onlyItsBeginning: areMuch(archives) };
  let doneBytes = 0;
  for (const archive of archives) {
    onProgress({ phase: 'scan', doneBytes, totalBytes });
    doneBytes += Number(archive.sizeBytes);
    const found = isNewcomer(archive) ? await takeIn(archive, how, deps) : archive.unfitAt ? 'unread' : undefined;
    if (found) scan[found]++;
  }
  onProgress({ phase: 'scan', doneBytes, totalBytes });
  log.info({ ...scan }, 'archives scanned');
  return scan;
}

/** Above this, only the beginnings are read: after a loss of the catalogue, all archives are unknown. */
const MUCH_BYTES = 4 * 1024 ** 3;

export const areMuch = (archives: Backup[]): boolean =>
  archives.filter(isNewcomer).reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0) > MUCH_BYTES;

/** Examines an unknown archive, and records the result. Undefined when that has happened meanwhile. */
export async function takeIn(
  archive: Backup,
  how: Thoroughness,
  { repository, find, lookInto, now }: Omit<ScanDeps, 'list'>,
): Promise<'added' | 'unread' | undefined> {
  const { file } = archive;
  const look = await lookInto(file, how);
  if (!look) return 'unread';
  const current = await find(file); // reading takes long: the archive may have changed meanwhile
  if (!current || !isNewcomer(current)) return undefined;
  if (!isSameFile(fileStateOf(archive), fileStateOf(current))) return 'unread';
  if ('manifest' in look) {
    await repository.takeIn(describedBy(current, look.manifest));
    return 'added';
  }
  await repository.takeIn({ ...current, unfitAt: now(), unfitReason: look.unfit });
  return 'unread';
}

/** For archives made elsewhere, the manifest has the date; it cannot be later than the arrival. */
export function describedBy(archive: Backup, { createdAt, stores }: Manifest): Backup {
  const madeAt = new Date(Math.min(Date.parse(createdAt), archive.createdAt.getTime()));
  return { ...archive, createdAt: isOwn(archive.origin) ? archive.createdAt : madeAt, stores: Object.keys(stores) };
}
