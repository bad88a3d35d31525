import type { Log } from '@taskmesh/service';
import type { Manifest } from '../archives/manifest.ts';
import { isNewcomer, isOwn, type Backup } from './backup.entity.ts';
import type { OnProgress } from './backup-progress.ts';
import type { BackupRepository } from './backup.repository.ts';
import type { Look, Thoroughness } from './look-into.ts';

export interface ScanDeps {
  repository: Pick<BackupRepository, 'takeIn'>;
  list(): Promise<Backup[]>;
  find(file: string): Promise<Backup | undefined>;
  lookInto(file: string, how: Thoroughness): Promise<Look>;
  now: () => Date;
  log: Log;
}

/** What became of a scan. */
export interface BackupScan {
  /** That are there. */
  archives: number;
  /** That the catalogue did not know. */
  added: number;
  /** That it does not know now either, because nobody here can read a manifest: the list has name, size and date, and perhaps why. */
  unread: number;
}

/**
 * Brings into the catalogue what lies in the place of the archives and the catalogue does not know, from the manifests, and which
 * of it is not fit for a restore. What it knows stays as it is. Who made an archive cannot be seen from it: retention never deletes what a scan has found.
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

/** After the loss of the catalogue nobody has looked into any of them. */
const MUCH_BYTES = 4 * 1024 ** 3;

/** Whether reading all of those that nobody has looked into would take long, or cost much. */
export const areMuch = (archives: Backup[]): boolean =>
  archives.filter(isNewcomer).reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0) > MUCH_BYTES;

/** Looks into an archive of which the catalogue knows nothing, and notes what it is. Undefined when others did meanwhile. */
export async function takeIn(
  { file, createdAt, sizeBytes }: Backup,
  how: Thoroughness,
  { repository, find, lookInto, now }: Omit<ScanDeps, 'list'>,
): Promise<'added' | 'unread' | undefined> {
  const look = await lookInto(file, how);
  if (!look) return 'unread';
  const current = await find(file); // reading takes long: others may have catalogued, proved, changed or deleted it
  if (!current || !isNewcomer(current)) return undefined;
  if ('manifest' in look) {
    await repository.takeIn(describedBy(current, look.manifest));
    return 'added';
  }
  const isSame = current.sizeBytes === sizeBytes && current.createdAt.getTime() === createdAt.getTime();
  const unfit = { unfitAt: now(), unfitReason: look.unfit };
  if (isSame) await repository.takeIn({ ...current, ...unfit });
  return 'unread';
}

/** Of what was made elsewhere, the manifest says when; that it was made later than it came cannot be. */
export function describedBy(archive: Backup, { createdAt, stores }: Manifest): Backup {
  const madeAt = new Date(Math.min(Date.parse(createdAt), archive.createdAt.getTime()));
  return { ...archive, createdAt: isOwn(archive.origin) ? archive.createdAt : madeAt, stores: Object.keys(stores) };
}
