import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { create, type WriteEntry } from 'tar';

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
const zip = promisify(gzip);

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
  const underWay: Promise<Buffer>[] = [];
  let bytes = 0;
  for await (const part of parts) {
    onRead?.((bytes += part.length));
    const member = zip(part, { chunkSize: BLOCK_BYTES });
    member.catch(() => undefined); // rethrown in its turn
    underWay.push(member);
    if (underWay.length === MAX_CONCURRENT_BLOCKS) yield underWay.shift() as Promise<Buffer>;
  }
  yield* underWay;
}
