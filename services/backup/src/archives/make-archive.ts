import { STORE_TABLES } from '@taskmesh/internal-api';
import {
  countOmitted,
  DumpError,
  openSnapshot,
  readTableBytes,
  type dumpDatabase,
  type RowsOf,
  type Snapshot,
} from '@taskmesh/pg-rows';
import type { Log } from '@taskmesh/service';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { tooLarge, type ArchiveLimits } from './limits.ts';
import { MANIFEST_FILE, type Manifest } from './manifest.ts';
import type { TemporaryDirs } from './temporary-dirs.ts';
import { writeArchive } from './write-archive.ts';
import { ENCRYPTED_SUFFIX, type ArchiveCipher } from './archive-cipher.ts';
import { abortOnStall, createStallDetection, untilAborted, type StallDetection } from '../stall-detection.ts';
import { checkDiskSpace, createDiskSpaceWatch, type LookAtDisk } from '../disk-space.ts';
import { connectAdmin } from '../databases/connect.ts';
import { readSchemaVersion } from '../databases/schema-version.ts';
import type { BackupStorage, WrittenArchive } from '../storage/backup-storage.ts';
import { DUMP_FILES, type Store, type StoreName } from '../databases/store.ts';
import type { OnProgress } from './progress.ts';

export interface ArchiveMaking {
  storage: BackupStorage;
  temporaryDirs: TemporaryDirs;
  stores: Record<StoreName, Store>;
  now: () => Date;
  /** Tells apart two archives of the same second. */
  nextId: () => string;
  /** A restore's limits: an archive that exceeds them is not made. */
  archiveLimits: ArchiveLimits;
  /** Absent: archives are not encrypted. */
  cipher: ArchiveCipher | undefined;
  dump: typeof dumpDatabase;
  product: string;
  look: LookAtDisk;
  /** How long reading the stores may show no progress; large stores get more. */
  stallMs: number;
  log: Log;
}

export interface MadeArchive extends WrittenArchive {
  file: string;
  createdAt: Date;
  stores: StoreName[];
}

/**
 * Dumps all stores and publishes the archive once it is complete. `expectedBytes`: the estimated size. A failure leaves
 * nothing behind.
 */
export function makeArchive(
  making: ArchiveMaking,
  expectedBytes: number,
  onProgress: OnProgress = () => undefined,
): Promise<MadeArchive> {
  const { storage, stores, dump, look, stallMs, archiveLimits, cipher, now, nextId, product, log } = making;
  return making.temporaryDirs.use(async (dir) => {
    const begin = performance.now();
    const createdAt = now();
    const names = Object.keys(stores) as StoreName[]; // a record's keys
    const expected = storage.dir === undefined ? [] : [{ dir: storage.dir, bytes: expectedBytes }];
    const hasRoom = (bytes: number) => checkDiskSpace([{ dir, bytes }, ...expected], look);
    const dumps = await dumpAll(Object.values(stores), {
      dir,
      dump,
      log,
      look,
      stallMs,
      archiveLimits,
      hasRoom,
      onProgress,
    });
    const manifest: Manifest = { format: 2, product, createdAt: createdAt.toISOString(), stores: dumps };
    await writeFile(join(dir, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flag: 'wx' });

    const file = archiveName(createdAt, nextId()) + (cipher ? ENCRYPTED_SUFFIX : '');
    const files = [MANIFEST_FILE, ...names.map((name) => DUMP_FILES[name])];
    const dumpBytes = Object.values(dumps).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const onRead = (doneBytes: number) => {
      checkExpanded(doneBytes, archiveLimits);
      onProgress({ phase: 'compress', doneBytes: Math.min(doneBytes, dumpBytes), totalBytes: dumpBytes });
    };
    const plain = writeArchive({ dir, files, modifiedAt: createdAt, onRead });
    const content = cipher ? await cipher.encrypt(plain) : plain;
    const written = await storage.write(file, Readable.from(atMost(content, archiveLimits), { objectMode: false }));
    log.info({ file, ...written, dumpBytes, tookMs: Math.round(performance.now() - begin) }, 'backup made');
    return { file, ...written, createdAt, stores: names };
  });
}

function checkExpanded(bytes: number, { expandedBytes }: ArchiveLimits): void {
  if (bytes > expandedBytes) throw tooLarge(expandedBytes, 'unpacked');
}

async function* atMost(content: AsyncIterable<Buffer>, { compressedBytes }: ArchiveLimits): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > compressedBytes) throw tooLarge(compressedBytes, 'packed');
    yield part;
  }
}

/** `taskmesh-20261120T100000Z-….tar.gz` */
function archiveName(createdAt: Date, id: string): string {
  return `taskmesh-${createdAt.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${id}.tar.gz`;
}

const sumOf = async (numbers: Promise<number>[]) => (await Promise.all(numbers)).reduce((sum, one) => sum + one, 0);

interface Dumping {
  dir: string;
  dump: typeof dumpDatabase;
  log: Log;
  look: LookAtDisk;
  stallMs: number;
  archiveLimits: ArchiveLimits;
  /** @throws DiskSpaceError when dumps of this size do not fit */
  hasRoom(bytes: number): Promise<void>;
  onProgress: OnProgress;
}

/**
 * All snapshots are taken before the first row is read, and all connections must last until the end: restoring a store
 * ends its connection, so no archive mixes stores from before and after a restore.
 * @throws TooSlowError when there is no progress for too long
 */
async function dumpAll(stores: Store[], dumping: Dumping): Promise<Manifest['stores']> {
  const opened: OpenStore[] = [];
  const stop = new AbortController();
  const movement = createStallDetection(dumping.stallMs);
  const onStall = abortOnStall(stop, movement);
  try {
    return await untilAborted(stop.signal, dumpEach(stores, opened, { ...dumping, movement }));
  } finally {
    clearInterval(onStall);
    closeAll(opened); // this ends pending queries
  }
}

const closeAll = (opened: OpenStore[]) => opened.forEach(({ snapshot }) => snapshot.close());

interface OpenStore {
  store: Store;
  snapshot: Snapshot;
}

interface WatchedDumping extends Dumping {
  movement: StallDetection;
}

async function dumpEach(stores: Store[], opened: OpenStore[], dumping: WatchedDumping): Promise<Manifest['stores']> {
  try {
    for (const store of stores) {
      const client = await connectAdmin(store.adminUrl, { name: 'taskmesh-dump', timeoutMs: 0 }); // watched by `movement`
      opened.push({ store, snapshot: await openSnapshot(client) });
    }
    const bytes = await sumOf(
      opened.map(({ store, snapshot }) => snapshot.read((client) => readTableBytes(client, archivedRows(store.name)))),
    );
    dumping.movement.see(bytes);
    await dumping.hasRoom(bytes);
    const dumps: Partial<Manifest['stores']> = {};
    for (const { store, snapshot } of opened) dumps[store.name] = await dumpOne(store, snapshot, dumping);
    for (const { snapshot } of opened) await snapshot.finish();
    return dumps as Manifest['stores']; // all of them are opened
  } finally {
    closeAll(opened); // including those opened after the abort
  }
}

async function dumpOne(
  { name }: Store,
  snapshot: Snapshot,
  { dir, dump, log, look, archiveLimits, onProgress, movement }: WatchedDumping,
): Promise<Manifest['stores'][StoreName]> {
  const file = DUMP_FILES[name];
  const watch = createDiskSpaceWatch(dir, look);
  const onWritten = (doneBytes: number) => {
    checkExpanded(doneBytes, archiveLimits);
    movement.see();
    onProgress({ phase: 'dump', store: name, doneBytes });
    return watch(doneBytes);
  };
  try {
    const omitted = await snapshot.read(countOmitted);
    if (Object.keys(omitted).length > 0) log.info({ store: name, omitted }, 'the dump omits objects of the store');
    const schemaVersion = await snapshot.read(readSchemaVersion);
    const target = { path: join(dir, file), rowsOf: archivedRows(name), onWritten };
    return { file, schemaVersion, ...(await snapshot.read((client) => dump({ client, ...target }))) };
  } catch (error) {
    throw error instanceof DumpError ? new DumpError(`${name}: ${error.message}`, { cause: error.cause }) : error;
  }
}

/** Which rows of a store an archive holds. */
export const archivedRows =
  (store: StoreName): RowsOf =>
  (table) => {
    const { archived = 'rows', replaced = 'all' } = STORE_TABLES[store][table] ?? {};
    return archived === 'nothing' ? 'none' : replaced;
  };
