import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { create } from 'tar';

export interface ArchiveSource {
  dir: string;
  /** Names of regular files in `dir`, in the order in which they are to be read back. */
  files: string[];
  modifiedAt: Date;
}

/** A gzip-compressed tar file of these files: nothing in it tells who made it, or on which machine. */
export function writeArchive({ dir, files, modifiedAt }: ArchiveSource): Readable {
  const packed = Readable.from(create({ cwd: dir, portable: true, strict: true, mtime: modifiedAt }, files));
  const zipped = createGzip();
  packed.on('error', (error) => zipped.destroy(error));
  zipped.on('close', () => packed.destroy());
  return packed.pipe(zipped);
}
