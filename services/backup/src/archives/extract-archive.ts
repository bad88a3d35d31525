import { AppError } from '@taskmesh/errors';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Unpack } from 'tar';
import { lookAtDisk, RoomError, type LookAtDisk } from '../room.ts';
import { TooSlowError } from '../too-slow-error.ts';
import { byteCount, byteLimit } from './byte-limit.ts';
import { createEntryCheck } from './entry-rules.ts';
import { asExtractionError, ExtractionError } from './extraction-error.ts';
import type { ArchiveLimits } from './limits.ts';

export interface Extraction {
  /** The archive: a gzip-compressed tar file. */
  source: Readable;
  sizeBytes: number;
  /** An empty folder that nobody else may write to. */
  dir: string;
  limits: ArchiveLimits;
  /** Told from time to time how much of the archive is read. */
  onRead?: (bytes: number) => void;
  /** @default asks the system */
  look?: LookAtDisk | undefined;
}

/** Of what may be used of a disk, one archive does not take more. */
const USABLE_DISK_SHARE = 4;

/**
 * Extracts regular files and folders into `dir`, and nothing anywhere else.
 * @throws ExtractionError for anything but an intact archive without links, devices, climbing names and duplicates. What
 * was extracted before stays in `dir`.
 */
export async function extractArchive(extraction: Extraction): Promise<void> {
  const { source, sizeBytes, dir, limits, onRead, look = lookAtDisk } = extraction;
  const stop = new AbortController();
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  try {
    if (sizeBytes > limits.compressedBytes)
      throw new ExtractionError(`The archive has more than ${limits.compressedBytes} bytes.`);
    const unpack = createUnpack(dir, limits, stop);
    const roomBytes = Math.floor((await look(dir)).usableBytes / USABLE_DISK_SHARE);
    const limit =
      roomBytes < limits.expandedBytes
        ? byteLimit(roomBytes, new RoomError('the disk has too little room'))
        : byteLimit(limits.expandedBytes);
    const signal = AbortSignal.any([stop.signal, deadline]);
    await pipeline(source, byteCount(onRead), createGunzip(), limit, unpack.stream, {
      signal,
    });
    if (unpack.entries() === 0) throw new ExtractionError('The archive is empty.');
  } catch (error) {
    if (error instanceof AppError) throw error; // where the archive comes from is away
    throw asExtractionError(stop.signal.aborted ? stop.signal.reason : deadline.aborted ? tooSlow(limits) : error);
  } finally {
    source.destroy();
  }
}

/** tar's own rules stand behind ours: it never writes through a link or above `dir`. */
function createUnpack(dir: string, limits: ArchiveLimits, stop: AbortController) {
  const check = createEntryCheck(limits);
  let entries = 0;
  // A filter must not throw: tar would go on with the next entry.
  const allows = (verify: () => void) => {
    try {
      if (!stop.signal.aborted) verify();
    } catch (error) {
      stop.abort(error);
    }
    return !stop.signal.aborted;
  };
  const unpack = new Unpack({
    cwd: dir,
    strict: true,
    preserveOwner: false,
    noMtime: true,
    maxDepth: limits.depth,
    maxMetaEntrySize: 64 * 1024,
    umask: 0o077,
    filter: (_path, entry) =>
      allows(() => {
        if ('header' in entry) check(entry);
        entries++;
      }),
  });
  // Kinds that tar does not know (sparse files, other systems' records) never reach the filter.
  unpack.on('ignoredEntry', (entry: { meta: boolean; type: string }) =>
    allows(() => {
      if (!entry.meta) throw new ExtractionError(`The archive holds an entry of an unknown kind (${entry.type}).`);
    }),
  );
  return { stream: unpack as unknown as NodeJS.WritableStream, entries: () => entries }; // tar types it as an emitter only
}

function tooSlow({ timeoutMs }: ArchiveLimits): ExtractionError {
  const message = `Extraction took longer than ${timeoutMs / 1000} seconds.`;
  return new ExtractionError(message, { cause: new TooSlowError(message) });
}
