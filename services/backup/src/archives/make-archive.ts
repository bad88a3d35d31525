import { STORE_TABLES, type OnWorkProgress } from '@taskmesh/internal-api';
import {
  countOmitted,
  dumpDatabase,
  DumpError,
  lockTables,
  openSnapshot,
  readTableBytes,
  type RowsOf,
  type Snapshot,
} from '@taskmesh/pg-rows';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { create, type WriteEntry } from 'tar';
import type { CommonParts } from '../common-parts.ts';
import { connectAdmin } from '../databases/connect.ts';
import { DUMP_FILES, readSchemaVersion, STORE_NAMES, type StoreName } from '../databases/store.ts';
import { checkDiskSpace, createDiskSpaceWatch } from '../disk-space.ts';
import { abortOnStall, createStallDetection, rejectOnAbort, type StallDetection } from '../stall-detection.ts';
import type { WrittenArchive } from '../storage/backup-storage.ts';
import { ENCRYPTED_SUFFIX } from './encryption.ts';
import { tooLarge, type ArchiveLimits } from './limits.ts';
import { MANIFEST_FILE, type Manifest } from './manifest.ts';

export type MakeArchiveDeps = Omit<CommonParts, 'mainStore' | 'loadLimits' | 'keepOldMs' | 'metrics' | 'onUnsettled'>;

/**
 * Dumps all stores and publishes the archive once it is complete. `expectedBytes` is its estimated size. A failure
 * leaves nothing behind.
 */
export function makeArchive(
  deps: MakeArchiveDeps,
  expectedBytes: number,
  onProgress: OnWorkProgress = () => undefined,
): Promise<WrittenArchive & { file: string; createdAt: Date; stores: StoreName[] }> {
  const { storage, archiveLimits, cipher, now, nextId, product, measureDisk, log } = deps;
  return deps.temporaryDirs.use(async (dir) => {
    const begin = performance.now();
    const createdAt = now();
    const file = archiveName(createdAt, nextId()) + (cipher ? ENCRYPTED_SUFFIX : '');
    await storage.find(file); // rejects at once when the storage is unavailable, not after the dumps
    const expected = storage.dir === undefined ? [] : [{ dir: storage.dir, bytes: expectedBytes }];
    const checkRoom = (bytes: number) => checkDiskSpace([{ dir, bytes }, ...expected], measureDisk);
    const dumps = await dumpAll({ ...deps, dir, checkRoom, onProgress });
    const manifest: Manifest = { format: 2, product, createdAt: createdAt.toISOString(), stores: dumps };
    await writeFile(join(dir, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flag: 'wx' });

    const files = [MANIFEST_FILE, ...STORE_NAMES.map((name) => DUMP_FILES[name])];
    const dumpBytes = Object.values(dumps).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const onRead = (doneBytes: number) => {
      checkExpanded(doneBytes, archiveLimits);
      onProgress({ phase: 'compress', doneBytes: Math.min(doneBytes, dumpBytes), totalBytes: dumpBytes });
    };
    const plain = writeArchive({ dir, files, modifiedAt: createdAt, onRead });
    const content = cipher ? await cipher.encrypt(plain) : plain;
    const written = await storage.write(
      file,
      Readable.from(limitPackedSize(content, archiveLimits), { objectMode: false }),
    );
    log.info({ file, ...written, dumpBytes, tookMs: Math.round(performance.now() - begin) }, 'backup made');
    return { file, ...written, createdAt, stores: [...STORE_NAMES] };
  });
}

function checkExpanded(bytes: number, { expandedBytes }: ArchiveLimits): void {
  if (bytes > expandedBytes) throw tooLarge(expandedBytes, 'unpacked');
}

async function* limitPackedSize(
  content: AsyncIterable<Buffer>,
  { compressedBytes }: ArchiveLimits,
): AsyncGenerator<Buffer> {
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

interface DumpDeps extends MakeArchiveDeps {
  dir: string;
  /** @throws DiskSpaceError when dumps of this size do not fit */
  checkRoom(bytes: number): Promise<void>;
  onProgress: OnWorkProgress;
}

type Dumps = Manifest['stores'];

/**
 * Takes all snapshots before it reads the first row, and fails if a connection ends early: a restore ends the connections
 * to its stores, so no archive mixes stores from before and after a restore.
 * @throws TooSlowError when there is no progress for too long
 */
async function dumpAll(deps: DumpDeps): Promise<Dumps> {
  const opened = new Map<StoreName, Snapshot>();
  const closeAll = () => opened.forEach((snapshot) => snapshot.close()); // ends pending queries
  const stop = new AbortController();
  const stalls = createStallDetection(deps.timeouts.stallMs);
  const onStall = abortOnStall(stop, stalls);
  try {
    const dumps = dumpEach(deps, opened, stalls).finally(closeAll); // including snapshots opened after an abort
    return await rejectOnAbort(stop.signal, dumps);
  } finally {
    clearInterval(onStall);
    closeAll();
  }
}

/** No statement timeout: stall detection watches the dump. */
const DUMP_SESSION = { name: 'taskmesh-dump', timeoutMs: 0 };

async function dumpEach(deps: DumpDeps, opened: Map<StoreName, Snapshot>, stalls: StallDetection): Promise<Dumps> {
  for (const { name, adminUrl } of Object.values(deps.stores))
    opened.set(name, await openSnapshot(await connectAdmin(adminUrl, DUMP_SESSION)));
  for (const snapshot of opened.values()) await snapshot.read(lockTables); // before one of them takes hours to dump
  let bytes = 0;
  for (const [name, snapshot] of opened)
    bytes += await snapshot.read((client) => readTableBytes(client, archivedRows(name)));
  stalls.noteProgress(bytes);
  await deps.checkRoom(bytes);
  const dumps: Partial<Dumps> = {};
  let doneBytes = 0;
  for (const [name, snapshot] of opened) {
    const dump = await dumpOne(deps, { name, snapshot, stalls, doneBytes });
    doneBytes += dump.sizeBytes;
    dumps[name] = dump;
  }
  for (const snapshot of opened.values()) await snapshot.finish();
  return dumps as Dumps; // all of them are opened
}

interface OneDump {
  name: StoreName;
  snapshot: Snapshot;
  stalls: StallDetection;
  /** The size of the stores dumped before this one, because the limit applies to all together. */
  doneBytes: number;
}

async function dumpOne(
  { dir, log, measureDisk, archiveLimits, onProgress }: DumpDeps,
  { name, snapshot, stalls, doneBytes: before }: OneDump,
): Promise<Dumps[StoreName]> {
  const file = DUMP_FILES[name];
  const watch = createDiskSpaceWatch(dir, measureDisk);
  const onWritten = (doneBytes: number) => {
    checkExpanded(before + doneBytes, archiveLimits);
    stalls.noteProgress();
    onProgress({ phase: 'dump', store: name, doneBytes });
    return watch(doneBytes);
  };
  try {
    const omitted = await snapshot.read(countOmitted);
    if (Object.keys(omitted).length > 0) log.info({ store: name, omitted }, 'the dump omits objects of the store');
    const schemaVersion = await snapshot.read(readSchemaVersion);
    const target = { path: join(dir, file), rowsOf: archivedRows(name), onWritten };
    return { file, schemaVersion, ...(await snapshot.read((client) => dumpDatabase({ client, ...target }))) };
  } catch (error) {
    throw error instanceof DumpError ? new DumpError(`${name}: ${error.message}`, { cause: error.cause }) : error;
  }
}

/** Which rows of a store are archived. */
const archivedRows =
  (store: StoreName): RowsOf =>
  (table) => {
    const { archived = 'rows', replaced = 'all' } = STORE_TABLES[store][table] ?? {};
    return archived === 'nothing' ? 'none' : replaced;
  };

export interface ArchiveSource {
  dir: string;
  /** Names of regular files in `dir`, in the order in which they will be read back. */
  files: string[];
  modifiedAt: Date;
  /** Called from time to time with the number of uncompressed bytes read. */
  onRead?: (bytes: number) => void;
}

/** Streams a gzip-compressed tar file, without traces of the user or host. Opens no file before it is read. */
export function writeArchive(source: ArchiveSource): Readable {
  return Readable.from(gzipBlocks(tarOf(source), source.onRead));
}

const BLOCK_BYTES = 1024 * 1024;
const MAX_CONCURRENT_BLOCKS = 4;
const compress = promisify(gzip);

async function* tarOf({ dir, files, modifiedAt }: ArchiveSource): AsyncGenerator<Buffer> {
  const entries: WriteEntry[] = [];
  let isAbandoned = false;
  const onWriteEntry = (entry: WriteEntry) => {
    entries.push(entry);
    if (isAbandoned) entry.resume();
  };
  const options = { cwd: dir, portable: true, strict: true, mtime: modifiedAt, maxReadSize: BLOCK_BYTES };
  const packed = create({ ...options, onWriteEntry }, files);
  try {
    yield* packed as AsyncIterable<Buffer>;
  } finally {
    // A pack cannot be destroyed, and closes a file only once the file has been read.
    isAbandoned = true;
    packed.on('error', () => undefined);
    for (const part of [packed, ...entries]) part.resume();
  }
}

/** Compresses blocks in parallel, each as a gzip member of its own, because compression takes most of the time. */
async function* gzipBlocks(parts: AsyncIterable<Buffer>, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  const pending: Promise<Buffer>[] = [];
  let bytes = 0;
  for await (const part of parts) {
    onRead?.((bytes += part.length));
    const member = compress(part, { chunkSize: BLOCK_BYTES });
    member.catch(() => undefined); // rethrown in its turn
    pending.push(member);
    if (pending.length === MAX_CONCURRENT_BLOCKS) yield pending.shift() as Promise<Buffer>;
  }
  yield* pending;
}
