import { conflict, notFound, unavailable } from '@taskmesh/contracts';
import type { BackupScan, OnWorkProgress } from '@taskmesh/internal-api';
import { monotonicClock, settlesWithin } from '@taskmesh/service';
import type { Readable } from 'node:stream';
import { isInFuture } from '../clock-skew.ts';
import type { CommonParts } from '../common-parts.ts';
import type { Verifier } from '../restore/verifier.ts';
import type { RunLock } from '../run-lock.ts';
import { ArchiveExistsError, isListableName, type StoredArchive } from '../storage/backup-storage.ts';
import { isOwn, isSameFile, UNVERIFIED, type Backup, type MadeOrigin } from './archive.entity.ts';
import { asBackupFailure, asVerifyFailure, failureReason, isUnverifiable, findUnfitReason } from './archive.errors.ts';
import type { BackupRepository } from './archive.repository.ts';
import { makeArchive } from './make-archive.ts';
import { createNewArchives, applyManifest, inspectArchive, scanArchives, examineArchive } from './new-archives.ts';
import { checkUploadName, sha256Of, checkUpload } from './uploads.ts';

/** A stored archive, held open. The caller closes it. */
export interface Download {
  sizeBytes: number;
  sha256: string | null;
  read(): Readable;
  close(): Promise<void>;
}

export interface BackupService {
  /** Makes an archive of all stores. @throws AppError with the reason when it could not be made */
  create(onProgress?: OnWorkProgress, origin?: MadeOrigin): Promise<Backup>;
  /**
   * Lists the archives in the storage with what the catalogue knows, newest first (those dated in the future last).
   * Examines new archives once, which may continue after the return.
   */
  list(): Promise<Backup[]>;
  /** Returns the same list without examining any archive. */
  known(): Promise<Backup[]>;
  /** Removes unfinished archives, catalogues those that were not, and updates the metrics from the storage. */
  tidy(): Promise<void>;
  find(file: string): Promise<Backup | undefined>;
  /** Reads the archive as stored: an encrypted one stays encrypted. */
  download(file: string): Promise<Download | undefined>;
  /**
   * Stores an upload, which is listed once it is complete. Uploading the same content with the same name again changes
   * nothing. Calls `onStored` once, when the upload is stored or refused; examining it takes longer.
   * @throws AppError BAD_USER_INPUT for a bad name or content, PAYLOAD_TOO_LARGE, CONFLICT when the name is taken
   */
  upload(file: string, content: Readable, onStored?: () => void): Promise<Backup>;
  /**
   * Restores the archive into temporary databases beside the live ones, which stay untouched, and drops these databases.
   * @throws AppError NOT_FOUND; CONFLICT with the reason when the archive is unfit for a restore; SERVICE_UNAVAILABLE
   */
  verify(file: string, onProgress?: OnWorkProgress, origin?: 'request' | 'schedule'): Promise<Backup>;
  /** Adds archives that are missing from the catalogue. @throws AppError SERVICE_UNAVAILABLE */
  scan(onProgress?: OnWorkProgress): Promise<BackupScan>;
  remove(file: string): Promise<boolean>;
  /** Removes what killed writers left behind. Never throws: other functions may work while the storage is unavailable. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface BackupServiceDeps extends CommonParts {
  /** Ensures that only one archive is made at a time, across all instances. */
  createLock: RunLock;
  repository: BackupRepository;
  verifier: Verifier;
}

export function createBackupService(deps: BackupServiceDeps): BackupService {
  const { storage, repository, verifier, createLock, metrics, archiveLimits, timeouts, now, product, log } = deps;
  const waitMs = { ...WAIT_MS, request: timeouts.busyMs };

  /** Archives that were not catalogued when they were made. */
  const uncatalogued = new Map<string, Backup>();
  const save = (backup: Backup) => repository.save(backup).then(() => void uncatalogued.delete(backup.file));

  /** Only logs a failure: the archive is complete, and `tidy` catalogues it. */
  const catalogue = async (made: Backup) => {
    const { file } = made;
    const backup = { ...made, modifiedAt: (await storage.find(file).catch(() => undefined))?.modifiedAt ?? null };
    uncatalogued.set(file, backup);
    await save(backup).catch((err: unknown) => log.error({ err, file }, 'backup not catalogued'));
  };

  /** Returns the archive of that name, if it has this content. */
  const sameAs = async (file: string, sha256: string): Promise<Backup | undefined> => {
    const archive = await storage.open(file);
    if (archive.kind !== 'found') return undefined;
    const content = sha256Of(archive.read()).finally(() => archive.close());
    return (await content) === sha256 ? find(file) : undefined;
  };

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

  const list = async (): Promise<Backup[]> => {
    const [archives, known] = await Promise.all([storage.list(), repository.all()]);
    const byFile = new Map(known.map((backup) => [backup.file, backup]));
    for (const [file, made] of uncatalogued) byFile.set(file, recall(made, byFile.get(file)));
    return archives.map((archive) => describe(archive, byFile.get(archive.file))).sort(newestFirst(now()));
  };

  /** Marks only the file that was examined, not a replacement. The file need not be in the catalogue yet. */
  const markUnfit = async (stored: StoredArchive, unfitReason: string): Promise<void> => {
    const [found, left] = [await find(stored.file), await storage.find(stored.file)];
    if (!found || !left || !isSameFile(stored, left)) return;
    const unfit = { unfitAt: found.unfitAt ?? now(), unfitReason };
    await save({ ...found, ...UNVERIFIED, ...unfit, modifiedAt: stored.modifiedAt });
  };

  const stopping = new AbortController();
  const { signal } = stopping;
  let lastInspection: Promise<unknown> = Promise.resolve();
  /** Examines one archive at a time, because each needs a process and disk space for its whole content. */
  const inspect = (file: string) => {
    const inspection = lastInspection.then(() => inspectArchive(file, { ...deps, signal }));
    lastInspection = inspection.catch(() => undefined);
    return inspection;
  };
  const recordExamined = (backup: Backup) =>
    uncatalogued.has(backup.file) ? save(backup) : repository.recordExamined(backup);
  const scanDeps = { ...deps, repository: { recordExamined }, find, list, inspect };
  const newArchives = createNewArchives({
    examine: (archive) => examineArchive(archive, scanDeps),
    signal,
    monotonicClock,
    log,
  });

  const showFigures = async () => metrics.archives(await list(), now());

  const tidy = async () => {
    const pieces = await storage.sweep().catch((err: unknown) => {
      log.warn({ err }, 'unfinished archives not removed');
      return 0;
    });
    if (pieces > 0) log.warn({ pieces }, 'unfinished archives removed');
    for (const { file, sizeBytes } of uncatalogued.values()) {
      const found = await find(file).catch(() => null);
      if (found?.sizeBytes === sizeBytes) await save(found).catch(() => undefined);
      else if (found !== null) uncatalogued.delete(file); // it was replaced, or removed elsewhere
    }
    await showFigures();
  };

  /** Warns of an empty storage, because an unmounted disk looks like a new, empty directory. */
  const warnIfEmpty = async (wasMade: boolean) => {
    const known = (await repository.all()).length;
    if (known > 0 && (await storage.list()).length === 0)
      log.warn({ known, wasMade }, 'the archive storage is empty, but the list has archives: is it the right storage, and is its disk mounted?'); // prettier-ignore
    else if (wasMade) log.info('the directory of the archives was made');
  };

  let inspecting: Promise<void> | undefined;

  const expectedBytes = async (): Promise<number> => {
    const newest = (await list().catch(() => [])).find(({ origin }) => isOwn(origin));
    return newest ? newest.sizeBytes * GROWTH : 0;
  };

  const createAlone = async (origin: MadeOrigin, onProgress: OnWorkProgress | undefined) => {
    const begin = performance.now();
    const made = await makeArchive(deps, await expectedBytes(), onProgress);
    metrics.made(origin, (performance.now() - begin) / 1000);
    const backup: Backup = { ...UNKNOWN, ...made, origin };
    await catalogue(backup);
    await showFigures().catch(() => undefined); // updated periodically as well
    return backup;
  };

  return {
    async create(onProgress, origin = 'request') {
      try {
        return await createLock.run(waitMs[origin], () => createAlone(origin, onProgress));
      } catch (error) {
        metrics.notMade(origin, failureReason(error));
        log.error({ err: error }, 'backup not made');
        throw asBackupFailure(error);
      }
    },

    async list() {
      const archives = await list();
      return (await newArchives.meet(archives)) ? list() : archives;
    },
    known: list,
    find,
    tidy,

    async download(file) {
      const archive = isListableName(file) ? await storage.open(file) : undefined;
      if (archive?.kind !== 'found') return undefined;
      const { sizeBytes, read, close } = archive;
      try {
        const known = await find(file);
        return { sizeBytes, sha256: (known?.sizeBytes === sizeBytes ? known.sha256 : null) ?? null, read, close };
      } catch (error) {
        await close();
        throw error;
      }
    },

    async upload(file, content, onStored = () => undefined) {
      const store = async () => {
        checkUploadName(file);
        return storage.write(file, checkUpload(file, content, archiveLimits.compressedBytes));
      };
      try {
        const written = await store().finally(onStored);
        const arrived: Backup = { file, ...written, createdAt: now(), ...UNKNOWN, origin: 'upload' };
        const inspection = await inspect(file).catch(() => undefined); // the upload is stored in any case
        const unfit = inspection && 'unfit' in inspection && { unfitAt: now(), unfitReason: inspection.unfit };
        const backup =
          inspection && 'manifest' in inspection
            ? applyManifest(arrived, inspection.manifest)
            : { ...arrived, ...unfit };
        await catalogue(backup);
        log.info({ file, ...written }, 'archive uploaded');
        return backup;
      } catch (error) {
        const same = error instanceof ArchiveExistsError ? await sameAs(file, error.refused.sha256) : undefined;
        if (same) return same;
        log.warn({ err: error, file }, 'archive not uploaded');
        throw error instanceof ArchiveExistsError
          ? conflict('There is another archive of that name.')
          : asBackupFailure(error, 'The archive was not stored');
      } finally {
        content.destroy();
      }
    },

    async verify(file, onProgress = () => undefined, origin = 'request') {
      const stored = await storage.find(file);
      const archive = stored && (await storage.open(file));
      if (!stored || archive?.kind !== 'found') throw notFound('There is no such backup file.');
      try {
        const begin = performance.now();
        const stores = await verifier.verify(file, archive, { onProgress, waitMs: waitMs[origin] });
        const [found, left] = [await find(file), await storage.find(file)];
        if (!found || !left) throw notFound('The archive was deleted meanwhile.');
        if (!isSameFile(stored, left)) throw unavailable('The archive was replaced meanwhile; verify it again.');
        const proof = { ...UNVERIFIED, verifiedAt: now(), verifiedVersion: product };
        const backup: Backup = { ...found, modifiedAt: stored.modifiedAt, stores, ...proof };
        await save(backup);
        metrics.verified('ok');
        log.info({ file, stores, tookMs: Math.round(performance.now() - begin) }, 'archive verified');
        return backup;
      } catch (error) {
        log.error({ err: error, file }, 'archive not verified');
        const failure = asVerifyFailure(error);
        const unfit = findUnfitReason(failure);
        metrics.verified(unfit !== undefined ? 'unfit' : isUnverifiable(failure) ? 'unprovable' : 'failed');
        if (unfit !== undefined) await markUnfit(stored, unfit).catch(() => undefined);
        throw failure;
      } finally {
        await archive.close();
        await showFigures().catch(() => undefined);
      }
    },

    scan: (onProgress = () => undefined) => scanArchives(scanDeps, onProgress),

    async remove(file) {
      const removed = await storage.remove(file);
      if (removed) {
        uncatalogued.delete(file);
        // A failure is harmless: only the storage decides whether an archive exists.
        const forget = repository.remove(file);
        await forget.catch((error: unknown) => log.warn({ err: error, file }, 'deleted backup not forgotten'));
        log.info({ file }, 'backup deleted');
        await showFigures().catch(() => undefined);
      }
      return removed;
    },

    async start() {
      const report = (error: unknown) => log.error({ err: error }, 'the archive storage is unavailable');
      try {
        const wasMade = await storage.prepare();
        inspecting = warnIfEmpty(wasMade)
          .then(tidy)
          .catch((error: unknown) => signal.aborted || report(error))
          .then(() => {});
        await settlesWithin(inspecting, START_WAIT_MS); // so that the metrics include existing archives from the start
      } catch (error) {
        report(error);
      }
    },

    async stop() {
      stopping.abort();
      const ended = Promise.all([inspecting, newArchives.ended()]);
      if (!(await settlesWithin(ended, STOP_WAIT_MS))) log.warn('a check of the archive storage was abandoned');
    },
  };
}

/** How long to wait for another backup. A person can retry sooner; these two have nothing else to do. */
const WAIT_MS = { safety: 5 * 60_000, schedule: 60 * 60_000 };
/** A bucket may be slow: neither a start nor a stop waits longer than this for the examination of archives. */
const START_WAIT_MS = 3_000;
const STOP_WAIT_MS = 3_000;
/** How much larger than the last archive the next one may be. */
const GROWTH = 1.25;

const UNKNOWN = { stores: [], modifiedAt: null, ...UNVERIFIED };

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
