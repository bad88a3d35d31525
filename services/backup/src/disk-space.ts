import { stat, statfs } from 'node:fs/promises';
import { MIB } from './archives/limits.ts';

/** Too little disk space. The message is part of a sentence for the operator. */
export class DiskSpaceError extends Error {
  override readonly name = 'DiskSpaceError';
}

export interface Disk {
  /** Equal for directories on the same disk. */
  id: number;
  /** Excludes a reserve, because PostgreSQL's WAL may be on this disk, and the server stops when it is full. */
  usableBytes: number;
}

export type MeasureDisk = (dir: string) => Promise<Disk>;

/** The reserve is a twentieth of the disk, up to the usual maximum of PostgreSQL's WAL. */
const RESERVED_DIVISOR = 20;
const MAX_RESERVED_BYTES = 1024 * MIB;
/** How much may be written between two checks. */
const CHECK_EVERY_BYTES = 8 * MIB;

export const statDisk: MeasureDisk = async (dir) => {
  const { dev: id } = await stat(dir);
  const { bavail, blocks, bsize } = await statfs(dir);
  if (blocks === 0) return { id, usableBytes: Infinity }; // the file system does not report its size
  const reserved = Math.min((blocks * bsize) / RESERVED_DIVISOR, MAX_RESERVED_BYTES);
  return { id, usableBytes: Math.max(0, bavail * bsize - reserved) };
};

/** @throws DiskSpaceError when everything needed on one disk does not fit on it together */
export async function checkDiskSpace(needed: { dir: string; bytes: number }[], measure: MeasureDisk): Promise<void> {
  const sums = new Map<number, number>();
  for (const { dir, bytes } of needed) {
    const { id, usableBytes } = await measure(dir);
    const sum = (sums.get(id) ?? 0) + bytes;
    sums.set(id, sum);
    if (sum > usableBytes)
      throw new DiskSpaceError(`the disk has too little room (about ${mib(sum)} MiB are needed, ${mib(usableBytes)} MiB may be used)`); // prettier-ignore
  }
}

const mib = (bytes: number) => Math.ceil(bytes / MIB);

/** Returns a function to call with the bytes written to that disk. @throws DiskSpaceError when the reserve is reached */
export function createDiskSpaceWatch(dir: string, measure: MeasureDisk): (writtenBytes: number) => Promise<void> {
  let nextCheckBytes = 0;
  return async (writtenBytes) => {
    if (writtenBytes < nextCheckBytes) return;
    nextCheckBytes = writtenBytes + CHECK_EVERY_BYTES;
    if ((await measure(dir)).usableBytes < CHECK_EVERY_BYTES) throw new DiskSpaceError('the disk has too little room');
  };
}
