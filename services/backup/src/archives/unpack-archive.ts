import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Unpack } from 'tar/unpack';
import { DiskSpaceError } from '../disk-space.ts';
import { byteLimit } from './byte-limit.ts';
import { createEntryCheck } from './entry-rules.ts';
import { asExtractionError, ExtractionError } from './extraction-error.ts';
import { tooLarge, type ArchiveLimits } from './limits.ts';

export interface Unpacking {
  dir: string;
  limits: ArchiveLimits;
  /** The usable disk space. @default more than the limits allow */
  roomBytes?: number;
}

/** Extracts an archive; runs in the extraction process. @throws ExtractionError */
export async function unpackArchive(source: Readable, { dir, limits, roomBytes = Infinity }: Unpacking): Promise<void> {
  const stop = new AbortController();
  try {
    const unpack = createUnpack(dir, limits, stop);
    const { expandedBytes } = limits;
    const limit =
      roomBytes < expandedBytes
        ? byteLimit(roomBytes, new DiskSpaceError('the disk has too little room'))
        : byteLimit(expandedBytes, tooLarge(expandedBytes, 'unpacked'));
    await pipeline(source, createGunzip(), limit, unpack.stream, { signal: stop.signal });
    if (unpack.entries() === 0) throw new ExtractionError('The archive is empty.');
  } catch (error) {
    throw asExtractionError(stop.signal.aborted ? stop.signal.reason : error);
  }
}

/** A second line of defence are tar's own rules: it never writes through a link or outside `dir`. */
function createUnpack(dir: string, limits: ArchiveLimits, stop: AbortController) {
  const check = createEntryCheck(limits);
  let entries = 0;
  // The filter must not throw: tar would continue with the next entry.
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
  // Entries of kinds unknown to tar (sparse files, other systems' records) never reach the filter.
  unpack.on('ignoredEntry', (entry: { meta: boolean; type: string }) =>
    allows(() => {
      if (!entry.meta) throw new ExtractionError(`The archive holds an entry of an unknown kind (${entry.type}).`);
    }),
  );
  return { stream: unpack as unknown as NodeJS.WritableStream, entries: () => entries }; // tar types it as an emitter only
}
