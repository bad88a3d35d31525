import type { Log } from '@taskmesh/service';
import { extractStored, type ExtractStoredDeps } from './extract-archive.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { peekManifest } from './peek-manifest.ts';
import type { TemporaryDirs } from './temporary-dirs.ts';
import { openContent } from './archive-cipher.ts';
import type { BackupStorage, OpenArchive } from '../storage/backup-storage.ts';
import { MAIN_DUMP } from '../databases/store.ts';
import { asVerifyFailure, isUnprovable, VerifyError, whyUnfit } from '../restore/verify.errors.ts';

export interface InspectionDeps extends ExtractStoredDeps {
  storage: Pick<BackupStorage, 'open'>;
  temporaryDirs: TemporaryDirs;
  log: Log;
}

export interface Thoroughness {
  onlyItsBeginning: boolean;
}

/** A first impression: complete and made by Taskmesh; unfit for a restore; or unknown (undefined). */
export type Inspection = { manifest: Manifest } | { unfit: string } | undefined;

/**
 * Reads the whole archive with a restore's own checks, without loading it. `onlyItsBeginning`: stops after the manifest
 * if that is valid.
 * @throws AppError SERVICE_UNAVAILABLE when the storage is unavailable, or a disk is full
 */
export async function inspectArchive(
  file: string,
  { onlyItsBeginning }: Thoroughness,
  deps: InspectionDeps,
): Promise<Inspection> {
  const { storage, log } = deps;
  const archive = await storage.open(file);
  if (archive.kind !== 'found') return undefined;
  try {
    const first = onlyItsBeginning ? await peek(file, archive, deps) : undefined;
    const manifest = first ?? (await readAll(file, archive, deps));
    return manifest && { manifest };
  } catch (error) {
    const failure = asVerifyFailure(error);
    const unfit = whyUnfit(failure);
    log.debug({ err: error, file, unfit }, 'archive looked into in vain');
    if (unfit !== undefined) return { unfit };
    if (isUnprovable(failure)) return undefined;
    throw failure;
  } finally {
    await archive.close();
  }
}

async function peek(file: string, archive: OpenArchive, { cipher }: InspectionDeps): Promise<Manifest | undefined> {
  const content = await openContent(file, archive.read(), cipher);
  return peekManifest(content).catch(() => undefined);
}

function readAll(file: string, archive: OpenArchive, deps: InspectionDeps): Promise<Manifest | undefined> {
  return deps.temporaryDirs.use(async (dir) => {
    if (!(await extractStored({ file, archive, dir }, deps))) throw new VerifyError(`it holds no ${MAIN_DUMP}`);
    return readManifest(dir);
  });
}
