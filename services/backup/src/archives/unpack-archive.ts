import { errorCode } from '@taskmesh/contracts/error-details';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ReadEntry } from 'tar';
import { Unpack } from 'tar/unpack';
import { DiskSpaceError } from '../disk-space.ts';
import { asExtractionError, ExtractionError, tooLarge, type ArchiveLimits } from './limits.ts';

export interface Unpacking {
  dir: string;
  limits: ArchiveLimits;
  /** The usable disk space. @default more than the limits allow */
  roomBytes?: number;
}

/** Extracts an archive; runs in the extraction process. @throws ExtractionError */
export async function unpackArchive(source: Readable, { dir, limits, roomBytes = Infinity }: Unpacking): Promise<void> {
  const stop = new AbortController();
  const unpack = createUnpack(dir, limits, stop);
  try {
    const { expandedBytes } = limits;
    const limit =
      roomBytes < expandedBytes
        ? byteLimit(roomBytes, new DiskSpaceError('the disk has too little room'), unpack.hasEnd)
        : byteLimit(expandedBytes, tooLarge(expandedBytes, 'unpacked'), unpack.hasEnd);
    await pipeline(source, createGunzip(), limit, unpack.stream, { signal: stop.signal });
  } catch (error) {
    // tar refuses an archive without entries, even if it is complete.
    if (errorCode(error) === 'TAR_BAD_ARCHIVE' && unpack.hasEnd()) return;
    throw asExtractionError(stop.signal.aborted ? stop.signal.reason : error);
  }
}

/** tar's own rules are a second line of defence: it never writes through a link or outside `dir`. */
function createUnpack(dir: string, limits: ArchiveLimits, stop: AbortController) {
  const check = createEntryCheck(limits);
  let hasEnd = false;
  // The filter must not throw, because tar would continue with the next entry.
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
      }),
  });
  unpack.on('eof', () => (hasEnd = true));
  // Entries of kinds unknown to tar (sparse files, other systems' records) never reach the filter.
  unpack.on('ignoredEntry', (entry: { meta: boolean; type: string }) =>
    allows(() => {
      if (!entry.meta) throw new ExtractionError(`The archive contains an entry of an unknown kind (${entry.type}).`);
    }),
  );
  return { stream: unpack as unknown as NodeJS.WritableStream, hasEnd: () => hasEnd }; // tar types it as an emitter only
}

/**
 * Passes on at most `maxBytes`; beyond that, fails with an ExtractionError that has this `cause`. Drops what follows the end of the
 * archive, which tar would collect in memory.
 */
function byteLimit(maxBytes: number, cause: Error, hasEnd: () => boolean): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new ExtractionError(`The archive expands to more than ${maxBytes} bytes.`, { cause }));
      else done(null, hasEnd() ? undefined : chunk);
    },
  });
}

const FILE_TYPES = new Set(['File', 'OldFile', 'ContiguousFile']);
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

type CheckedEntry = Pick<ReadEntry, 'path' | 'type' | 'mode'> & { header: Pick<ReadEntry['header'], 'size'> };

/**
 * Checks the entries of one archive, each before it is written, and sets safe modes. The returned function throws
 * ExtractionError at the first entry that is not allowed.
 */
function createEntryCheck(limits: ArchiveLimits): (entry: CheckedEntry) => void {
  const seen = new Set<string>();

  return (entry) => {
    const name = entry.path;
    if (seen.size >= limits.entries) throw new ExtractionError(`The archive has more than ${limits.entries} entries.`);
    if (!FILE_TYPES.has(entry.type) && entry.type !== 'Directory')
      throw refused(name, `is neither a file nor a folder (${entry.type})`);
    // tar treats a negative size as zero; other programs may read such an archive differently.
    if (FILE_TYPES.has(entry.type) && entry.header.size === undefined) throw refused(name, 'has no valid size');
    const parts = partsOf(name, limits);
    const key = parts.join('/').normalize('NFKC').toLowerCase(); // names of the same file on some file systems
    if (seen.has(key)) throw refused(name, 'occurs twice');
    seen.add(key);
    entry.mode = entry.type === 'Directory' ? DIRECTORY_MODE : FILE_MODE;
  };
}

function partsOf(name: string, limits: ArchiveLimits): string[] {
  if (name.length > limits.nameLength) throw refused(name, 'has too long a name');
  if (/[\u0000-\u001f\u007f-\u009f\\]/.test(name))
    throw refused(name, 'has a name with control characters or backslashes');
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) throw refused(name, 'has an absolute name');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refused(name, 'climbs out of the archive');
  if (parts.length > limits.depth) throw refused(name, 'is nested too deeply');
  return parts;
}

const MAX_SHOWN_LENGTH = 80;

/** Names are untrusted, so messages show them shortened and escaped. */
function refused(name: string, why: string): ExtractionError {
  const shown = name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name;
  return new ExtractionError(`The archive's entry ${JSON.stringify(shown)} ${why}.`);
}
