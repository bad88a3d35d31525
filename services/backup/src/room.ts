import { stat, statfs } from 'node:fs/promises';

/** There is too little room on a disk. The message is a part of a sentence for the operator. */
export class RoomError extends Error {
  override readonly name = 'RoomError';
}

/** What the disk of a directory has. */
export interface Disk {
  /** The same for directories on the same one. */
  id: number;
  /** What may be used: a reserve stays free, because PostgreSQL's log may be on it, and stops without room. */
  usableBytes: number;
}

export type LookAtDisk = (dir: string) => Promise<Disk>;

const MIB = 1024 * 1024;
/** A twentieth of the disk, as much as PostgreSQL's log usually takes at the most. */
const RESERVED_SHARE = 20;
const MOST_RESERVED_BYTES = 1024 * MIB;
/** How much is written between two looks at the disk. */
const LOOK_EVERY_BYTES = 8 * MIB;

export const lookAtDisk: LookAtDisk = async (dir) => {
  const { dev: id } = await stat(dir);
  const { bavail, blocks, bsize } = await statfs(dir);
  if (blocks === 0) return { id, usableBytes: Infinity }; // a file system that does not say
  const reserved = Math.min((blocks * bsize) / RESERVED_SHARE, MOST_RESERVED_BYTES);
  return { id, usableBytes: Math.max(0, bavail * bsize - reserved) };
};

/** @throws RoomError when something does not fit, together with all else that goes to the same disk */
export async function checkRoom(needed: { dir: string; bytes: number }[], look: LookAtDisk): Promise<void> {
  const sums = new Map<number, number>();
  for (const { dir, bytes } of needed) {
    const { id, usableBytes } = await look(dir);
    const sum = (sums.get(id) ?? 0) + bytes;
    sums.set(id, sum);
    if (sum > usableBytes)
      throw new RoomError(`the disk has too little room (about ${mib(sum)} MiB are needed, ${mib(usableBytes)} MiB may be used)`); // prettier-ignore
  }
}

const mib = (bytes: number) => Math.ceil(bytes / MIB);

/** To be told of what is written to the disk of `dir`. @throws RoomError when that goes into the reserve */
export function createRoomWatch(dir: string, look: LookAtDisk): (writtenBytes: number) => Promise<void> {
  let nextLook = 0;
  return async (writtenBytes) => {
    if (writtenBytes < nextLook) return;
    nextLook = writtenBytes + LOOK_EVERY_BYTES;
    if ((await look(dir)).usableBytes < LOOK_EVERY_BYTES) throw new RoomError('the disk has too little room');
  };
}
