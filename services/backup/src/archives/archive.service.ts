import { conflict, notFound, unavailable } from '@taskmesh/contracts';
import type { BackupScan, OnWorkProgress } from '@taskmesh/internal-api';
import { monotonicClock, settlesWithin } from '@taskmesh/service';
import type { Readable } from 'node:stream';
import type { CommonParts } from '../common-parts.ts';
import type { Verifier } from '../restore/verifier.ts';
import type { RunLock } from '../run-lock.ts';
import { ArchiveExistsError, isListableName } from '../storage/backup-storage.ts';
import { isOwn, isSameFile, UNVERIFIED, type Backup, type MadeOrigin } from './archive.entity.ts';
import { asBackupFailure, asVerifyFailure, failureReason, isUnverifiable, findUnfitReason } from './archive.errors.ts';
import type { BackupRepository } from './archive.repository.ts';
import { createCatalogue, UNKNOWN } from './catalogue.ts';
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

  const catalogue = createCatalogue(deps);
  const { find, list } = catalogue;

  /** Returns the archive of that name, if it has this content. */
  const findSame = async (file: string, sha256: string): Promise<Backup | undefined> => {
    const archive = await storage.open(file);
    if (archive.kind !== 'found') return undefined;
    const content = sha256Of(archive.read()).finally(() => archive.close());
    return (await content) === sha256 ? find(file) : undefined;
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
  const scanDeps = { ...deps, ...catalogue, inspect };
  const newArchives = createNewArchives({
    examine: (archive) => examineArchive(archive, scanDeps),
    signal,
    monotonicClock,
    log,
  });

  const updateMetrics = async () => metrics.archives(await list(), now());

  const tidy = async () => {
    const pieces = await storage.sweep().catch((err: unknown) => {
      log.warn({ err }, 'unfinished archives not removed');
      return 0;
    });
    if (pieces > 0) log.warn({ pieces }, 'unfinished archives removed');
    await catalogue.addMissing();
    await updateMetrics();
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
    return newest ? newest.sizeBytes * GROWTH_FACTOR : 0;
  };

  const createAlone = async (origin: MadeOrigin, onProgress: OnWorkProgress | undefined) => {
    const begin = performance.now();
    const made = await makeArchive(deps, await expectedBytes(), onProgress);
    metrics.made(origin, (performance.now() - begin) / 1000);
    const backup: Backup = { ...UNKNOWN, ...made, origin };
    await catalogue.add(backup);
    await updateMetrics().catch(() => undefined); // updated periodically as well
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
      return (await newArchives.examineNew(archives)) ? list() : archives;
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
        const uploaded: Backup = { file, ...written, createdAt: now(), ...UNKNOWN, origin: 'upload' };
        const inspection = await inspect(file).catch(() => undefined); // the upload is stored in any case
        const unfit = inspection && 'unfit' in inspection && { unfitAt: now(), unfitReason: inspection.unfit };
        const backup =
          inspection && 'manifest' in inspection
            ? applyManifest(uploaded, inspection.manifest)
            : { ...uploaded, ...unfit };
        await catalogue.add(backup);
        log.info({ file, ...written }, 'archive uploaded');
        return backup;
      } catch (error) {
        const same = error instanceof ArchiveExistsError ? await findSame(file, error.refused.sha256) : undefined;
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
      if (!stored) throw notFound('There is no such backup file.');
      try {
        const begin = performance.now();
        const stores = await verifier.verify(file, { onProgress, waitMs: waitMs[origin] });
        const [found, current] = [await find(file), await storage.find(file)];
        if (!found || !current) throw notFound('The archive was deleted meanwhile.');
        if (!isSameFile(stored, current)) throw unavailable('The archive was replaced meanwhile; verify it again.');
        const proof = { ...UNVERIFIED, verifiedAt: now(), verifiedVersion: product };
        const backup: Backup = { ...found, modifiedAt: stored.modifiedAt, stores, ...proof };
        await catalogue.save(backup);
        metrics.verified('ok');
        log.info({ file, stores, tookMs: Math.round(performance.now() - begin) }, 'archive verified');
        return backup;
      } catch (error) {
        log.error({ err: error, file }, 'archive not verified');
        const failure = asVerifyFailure(error);
        const unfit = findUnfitReason(failure);
        metrics.verified(unfit !== undefined ? 'unfit' : isUnverifiable(failure) ? 'unprovable' : 'failed');
        if (unfit !== undefined) await catalogue.markUnfit(stored, unfit).catch(() => undefined);
        throw failure;
      } finally {
        await updateMetrics().catch(() => undefined);
      }
    },

    scan: (onProgress = () => undefined) => scanArchives(scanDeps, onProgress),

    async remove(file) {
      const removed = await storage.remove(file);
      if (removed) {
        await catalogue.remove(file);
        log.info({ file }, 'backup deleted');
        await updateMetrics().catch(() => undefined);
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
const GROWTH_FACTOR = 1.25;
