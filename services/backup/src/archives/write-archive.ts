import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { create } from 'tar';

export interface ArchiveSource {
  dir: string;
  /** Names of regular files in `dir`, in the order in which they are to be read back. */
  files: string[];
  modifiedAt: Date;
  /** Told from time to time how much of the uncompressed archive is read. */
  onRead?: (bytes: number) => void;
}

/** A gzip-compressed tar file of these files: nothing in it tells who made it, or on which machine. */
export function writeArchive({ dir, files, modifiedAt, onRead }: ArchiveSource): Readable {
  const packed = Readable.from(create({ cwd: dir, portable: true, strict: true, mtime: modifiedAt }, files));
  let bytes = 0;
  if (onRead) packed.on('data', (part: Buffer) => onRead((bytes += part.length)));
  const zipped = createGzip();
  packed.on('error', (error) => zipped.destroy(error));
  zipped.on('close', () => packed.destroy());
  return packed.pipe(zipped);
}
