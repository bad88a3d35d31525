import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

export interface DumpFile {
  write(part: string | Buffer): Promise<void>;
  /** Call it once, when everything is written. */
  finish(): Promise<{ sha256: string; sizeBytes: number }>;
  close(): Promise<void>;
}

/** Called with the file's size; an exception aborts the dump. */
export type OnWritten = (bytes: number) => void | Promise<void>;

const BUFFER_BYTES = 256 * 1024;

/** Creates a file that only we may read. Small parts are collected before they are written. */
export async function createDumpFile(path: string, onWritten?: OnWritten): Promise<DumpFile> {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let parts: Buffer[] = [];
  let waitingBytes = 0;
  let sizeBytes = 0;

  const flush = async () => {
    const whole = Buffer.concat(parts);
    parts = [];
    waitingBytes = 0;
    hash.update(whole);
    sizeBytes += whole.length;
    await file.writeFile(whole);
    await onWritten?.(sizeBytes);
  };

  return {
    async write(part) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      parts.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= BUFFER_BYTES) await flush();
    },
    async finish() {
      await flush();
      return { sha256: hash.digest('hex'), sizeBytes };
    },
    close: () => file.close(),
  };
}
