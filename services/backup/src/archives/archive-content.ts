import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { OpenArchive } from '../storage/backup-storage.ts';

export interface CheckedArchive extends OpenArchive {
  /** The checksum of the last read, if it was complete. */
  sha256(): string | null;
}

export function withChecksum(archive: OpenArchive): CheckedArchive {
  let hash = createHash('sha256');
  let bytes = 0;
  async function* checked(): AsyncGenerator<Buffer> {
    hash = createHash('sha256');
    bytes = 0;
    for await (const part of archive.read() as AsyncIterable<Buffer>) {
      hash.update(part);
      bytes += part.length;
      yield part;
    }
  }
  return {
    ...archive,
    read: () => Readable.from(checked(), { objectMode: false }),
    sha256: () => (bytes === archive.sizeBytes ? hash.digest('hex') : null),
  };
}
