import { unavailable } from '@taskmesh/contracts';
import type { BackupScan, OnWorkProgress } from '@taskmesh/internal-api';
import { settlesWithin, type Clock } from '@taskmesh/service';
import { addAbortSignal } from 'node:stream';
import type { CommonParts } from '../common-parts.ts';
import { fileStateOf, isUnexamined, isOwn, isSameFile, type Backup } from './archive.entity.ts';
import { asVerifyFailure, isUnverifiable, findUnfitReason } from './archive.errors.ts';
import type { Catalogue } from './catalogue.ts';
import { extractStored } from './extract-archive.ts';
import { checkMainDump, readManifest, type Manifest } from './manifest.ts';

interface InspectionDeps extends Pick<CommonParts, 'storage' | 'temporaryDirs' | 'cipher' | 'archiveLimits' | 'log'> {
  /** Aborts the inspection. */
  signal: AbortSignal;
}

/** The archive is complete and made by Taskmesh; unfit for a restore; or still unknown (undefined). */
export type Inspection = { manifest: Manifest } | { unfit: string } | undefined;

/**
 * Reads the whole archive with a restore's own checks, without loading it.
 * @throws AppError SERVICE_UNAVAILABLE when the storage is unavailable, a disk is full, or `signal` aborts
 */
export async function inspectArchive(file: string, deps: InspectionDeps): Promise<Inspection> {
  const { storage, temporaryDirs, log, signal } = deps;
  const stored = await storage.open(file);
  if (stored.kind !== 'found') return undefined;
  if (signal.aborted) return stored.close().then(() => Promise.reject(unavailable('The service is stopping.')));
  const archive = { ...stored, read: () => addAbortSignal(signal, stored.read(signal)) };
  try {
    const manifest = await temporaryDirs.use(async (dir) => {
      await extractStored({ file, archive, dir }, deps);
      await checkMainDump(dir);
      return readManifest(dir);
    });
    return manifest && { manifest };
  } catch (error) {
    if (signal.aborted) throw unavailable('The service is stopping.', error);
    const failure = asVerifyFailure(error);
    const unfit = findUnfitReason(failure);
    log.debug({ err: error, file, unfit }, 'archive could not be examined');
    if (unfit !== undefined) return { unfit };
    if (isUnverifiable(failure)) return undefined;
    throw failure;
  } finally {
    await archive.close();
  }
}

export interface ScanDeps
  extends Pick<CommonParts, 'now' | 'log'>, Pick<Catalogue, 'find' | 'list' | 'recordExamined'> {
  inspect(file: string): Promise<Inspection>;
}

/**
 * Adds archives that are missing from the catalogue, using their manifests, and records which are unfit for a restore.
 * Known ones stay unchanged. An archive does not say who made it, so retention never deletes archives found by a scan.
 */
export async function scanArchives(deps: ScanDeps, onProgress: OnWorkProgress): Promise<BackupScan> {
  const { list, find, log } = deps;
  const examine = (archive: Backup) =>
    examineArchive(archive, deps).catch(async (error: unknown) => {
      log.warn({ err: error, file: archive.file }, 'archive not examined');
      await find(archive.file); // fails if the whole storage is unavailable
      return 'unread' as const;
    });
  const archives = await list();
  const totalBytes = archives.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const scan: BackupScan = { archives: archives.length, added: 0, unread: 0 };
  let doneBytes = 0;
  for (const archive of archives) {
    onProgress({ phase: 'scan', doneBytes, totalBytes });
    doneBytes += archive.sizeBytes;
    const found = isUnexamined(archive) ? await examine(archive) : archive.unfitAt ? 'unread' : undefined;
    if (found) scan[found]++;
  }
  onProgress({ phase: 'scan', doneBytes, totalBytes });
  log.info({ ...scan }, 'archives scanned');
  return scan;
}

/** Examines an unknown archive, and records the result. Returns undefined when someone else has done so meanwhile. */
export async function examineArchive(
  archive: Backup,
  { recordExamined, find, inspect, now }: Omit<ScanDeps, 'list'>,
): Promise<'added' | 'unread' | undefined> {
  const { file } = archive;
  const inspection = await inspect(file);
  if (!inspection) return 'unread';
  const current = await find(file); // reading takes long, and the archive may have changed meanwhile
  if (!current || !isUnexamined(current)) return undefined;
  if (!isSameFile(fileStateOf(archive), fileStateOf(current))) return 'unread';
  if ('manifest' in inspection) {
    await recordExamined(applyManifest(current, inspection.manifest));
    return 'added';
  }
  await recordExamined({ ...current, unfitAt: now(), unfitReason: inspection.unfit });
  return 'unread';
}

/** For archives that this service did not make, takes the date from the manifest, but not one later than their arrival. */
export function applyManifest(archive: Backup, { createdAt, stores }: Manifest): Backup {
  const madeAt = new Date(Math.min(Date.parse(createdAt), archive.createdAt.getTime()));
  return { ...archive, createdAt: isOwn(archive.origin) ? archive.createdAt : madeAt, stores: Object.keys(stores) };
}

/** How long a list may wait for the examination of new archives. */
const WAIT_MS = 3_000;
/** After a failure, such as a full disk, the archive is read again from its start. */
const RETRY_MS = 60 * 60_000;

function stateOf(archive: Backup): string {
  const { sizeBytes, modifiedAt } = fileStateOf(archive);
  return `${sizeBytes} ${modifiedAt.getTime()}`;
}

export interface NewArchivesDeps extends Pick<CommonParts, 'log'> {
  examine(archive: Backup): Promise<unknown>;
  /** Aborts the examinations. */
  signal: AbortSignal;
  /** Measures durations. */
  monotonicClock: Clock;
}

export function createNewArchives({ examine, signal, monotonicClock: clock, log }: NewArchivesDeps) {
  /** Archives that remained unknown, by file, with the state that was examined. */
  const examined = new Map<string, { state: string; retryAt: number }>();
  let examination: Promise<void> | undefined;

  const examineAll = async (archives: Backup[]) => {
    for (const archive of archives) {
      if (signal.aborted) return;
      const state = stateOf(archive);
      examined.set(archive.file, { state, retryAt: Infinity });
      await examine(archive).catch((error: unknown) => {
        examined.set(archive.file, { state, retryAt: clock.now() + RETRY_MS });
        if (!signal.aborted) log.warn({ err: error, file: archive.file }, 'archive not examined');
      });
    }
  };

  const wasExamined = (archive: Backup) => {
    const { state, retryAt = 0 } = examined.get(archive.file) ?? {};
    return state === stateOf(archive) && clock.now() < retryAt;
  };

  return {
    /** Starts to examine new archives in the list, and waits a little. Returns whether there are any. Never throws. */
    async examineNew(archives: Backup[]): Promise<boolean> {
      const names = new Set(archives.map(({ file }) => file));
      for (const file of examined.keys()) if (!names.has(file)) examined.delete(file);
      const unexamined = archives.filter((archive) => isUnexamined(archive) && !wasExamined(archive));
      if (unexamined.length === 0 || signal.aborted) return false;
      examination ??= examineAll(unexamined).finally(() => (examination = undefined));
      await settlesWithin(examination, WAIT_MS);
      return true;
    },

    /** Resolves when no examination is in progress. */
    ended: async (): Promise<void> => examination,
  };
}
