import { isInFuture } from '../clock-skew.ts';
import type { CommonParts } from '../common-parts.ts';
import type { StoredArchive } from '../storage/backup-storage.ts';
import { isSameFile, UNVERIFIED, type Backup } from './archive.entity.ts';
import type { BackupRepository } from './archive.repository.ts';

export interface CatalogueDeps extends Pick<CommonParts, 'storage' | 'now' | 'log'> {
  repository: BackupRepository;
}

export type Catalogue = ReturnType<typeof createCatalogue>;

/** Knows the archives in the storage. Entries that our database could not store yet are kept in memory. */
export function createCatalogue({ storage, repository, now, log }: CatalogueDeps) {
  /** Archives that were not catalogued when they were made. */
  const uncatalogued = new Map<string, Backup>();
  const save = (backup: Backup) => repository.save(backup).then(() => void uncatalogued.delete(backup.file));

  /** Another instance may have examined and catalogued it since, without knowing its origin. */
  const recall = (made: Backup, row: Backup | undefined): Backup => {
    const { origin, sha256, createdAt } = made;
    return row?.sizeBytes === made.sizeBytes ? { ...row, origin, sha256, createdAt } : (row ?? made);
  };

  const find = async (file: string): Promise<Backup | undefined> => {
    const archive = await storage.find(file);
    const [made, row] = [uncatalogued.get(file), archive && (await repository.find(file))];
    return archive && describe(archive, made ? recall(made, row ?? undefined) : row);
  };

  return {
    find,
    save,

    async list(): Promise<Backup[]> {
      const [archives, known] = await Promise.all([storage.list(), repository.all()]);
      const byFile = new Map(known.map((backup) => [backup.file, backup]));
      for (const [file, made] of uncatalogued) byFile.set(file, recall(made, byFile.get(file)));
      return archives.map((archive) => describe(archive, byFile.get(archive.file))).sort(newestFirst(now()));
    },

    /** Only logs a failure: the archive is complete, and `addMissing` catalogues it. */
    async add(made: Backup): Promise<void> {
      const { file } = made;
      const backup = { ...made, modifiedAt: (await storage.find(file).catch(() => undefined))?.modifiedAt ?? null };
      uncatalogued.set(file, backup);
      await save(backup).catch((err: unknown) => log.error({ err, file }, 'backup not catalogued'));
    },

    async addMissing(): Promise<void> {
      for (const { file, sizeBytes } of uncatalogued.values()) {
        const found = await find(file).catch(() => null);
        if (found?.sizeBytes === sizeBytes) await save(found).catch(() => undefined);
        else if (found !== null) uncatalogued.delete(file); // it was replaced, or removed elsewhere
      }
    },

    recordExamined: (backup: Backup): Promise<void> =>
      uncatalogued.has(backup.file) ? save(backup) : repository.recordExamined(backup),

    /** Marks only the file that was examined, not a replacement. The file need not be in the catalogue yet. */
    async markUnfit(stored: StoredArchive, unfitReason: string): Promise<void> {
      const [found, current] = [await find(stored.file), await storage.find(stored.file)];
      if (!found || !current || !isSameFile(stored, current)) return;
      const unfit = { unfitAt: found.unfitAt ?? now(), unfitReason };
      await save({ ...found, ...UNVERIFIED, ...unfit, modifiedAt: stored.modifiedAt });
    },

    /** A failure is harmless: only the storage decides whether an archive exists. */
    async remove(file: string): Promise<void> {
      uncatalogued.delete(file);
      const removal = repository.remove(file);
      await removal.catch((error: unknown) => log.warn({ err: error, file }, 'deleted backup still catalogued'));
    },
  };
}

export const UNKNOWN = { stores: [], modifiedAt: null, ...UNVERIFIED };

/**
 * Combines the stored file with the catalogue. A file of another size is not the one that was catalogued. One of the same
 * size but another time may be a copy, whose content has not been verified.
 */
function describe(stored: StoredArchive, known: Backup | null | undefined): Backup {
  const { file, sizeBytes, modifiedAt } = stored;
  if (known?.sizeBytes !== sizeBytes)
    return { file, sizeBytes, sha256: null, createdAt: modifiedAt, ...UNKNOWN, modifiedAt, origin: 'unknown' };
  if (!known.modifiedAt || isSameFile(stored, { sizeBytes, modifiedAt: known.modifiedAt })) return known;
  return { ...known, sha256: null, ...UNVERIFIED, modifiedAt };
}

function newestFirst(now: Date): (one: Backup, other: Backup) => number {
  const isUndated = ({ createdAt }: Backup) => Number(isInFuture(createdAt, now));
  return (one, other) =>
    isUndated(one) - isUndated(other) ||
    other.createdAt.getTime() - one.createdAt.getTime() ||
    (one.file < other.file ? 1 : -1);
}
