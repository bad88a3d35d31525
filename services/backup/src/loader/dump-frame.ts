import type { FileHandle } from 'node:fs/promises';
import { LoadError } from './load-error.ts';

/** One character per byte, so a byte order mark is three. */
const HEAD = /^(?:\xef\xbb\xbf)?\s*--\r?\n-- PostgreSQL database dump\r?\n/;
const TAIL = /^-- PostgreSQL database dump complete\r?$/m;
const EDGE_BYTES = 4_096;

/** @throws LoadError for a file that starts like pg_dump's and does not end like one, or is of another format */
export async function checkFrame(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const head = await textAt(file, 0);
  if (head.startsWith('PGDMP')) throw new LoadError("The dump is in pg_dump's custom format; a plain one is needed.");
  if (HEAD.test(head) && !TAIL.test(await textAt(file, Math.max(0, size - EDGE_BYTES))))
    throw new LoadError('The dump is not complete: it begins as one of pg_dump and does not end as one.');
}

async function textAt(file: FileHandle, position: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(EDGE_BYTES), 0, EDGE_BYTES, position);
  return buffer.toString('latin1', 0, bytesRead);
}
