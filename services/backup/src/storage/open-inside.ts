import { unavailable } from '@taskmesh/contracts';
import { errorCode } from '@taskmesh/contracts/error-details';
import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { Located } from './backup-storage.ts';

const MISSING_CODES = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO']);

const DRIVE_OR_SHARE = /^([a-z]:|\/\/)/i;

type Found = { kind: 'found'; path: string } | { kind: 'outside' } | { kind: 'missing' };

/**
 * Opens a regular file below `dir`, which must exist. The name may contain anything: it is "outside" if its text or its
 * links lead out of `dir`, and otherwise "missing" unless it is a file.
 */
export async function openInside(dir: string, name: string): Promise<Located> {
  const found = await findInside(dir, name);
  return found.kind === 'found' ? openFile(found.path) : found;
}

/** Resolves a name and all its links, to any kind of target. */
export async function findInside(dir: string, name: string): Promise<Found> {
  if (name.includes('\0')) return { kind: 'missing' };
  const base = await realpath(dir);
  if (escapesDir(base, name)) return { kind: 'outside' };
  // Not normalised, so that "a.tar.gz/" and "link/../x" mean the same as to the operating system.
  const path = isAbsolute(name) ? name : `${base}${sep}${name}`;
  const real = await deepestReal(path);
  if (!isWithin(base, real.path)) return { kind: 'outside' };
  return real.isComplete ? { kind: 'found', path: real.path } : { kind: 'missing' };
}

/** Checks only the text. A backslash counts as a separator, because clients on Windows use it. */
export function escapesDir(base: string, name: string): boolean {
  const slashed = name.replaceAll('\\', '/');
  if (DRIVE_OR_SHARE.test(slashed) && !slashed.startsWith(base)) return true;
  return [name, slashed].some((spelling) => !isWithin(base, resolve(base, spelling)));
}

function isWithin(base: string, path: string): boolean {
  return path === base || path.startsWith(base.endsWith(sep) ? base : base + sep);
}

/** Resolves all links of a path; `isComplete` is false if only a part of it exists. */
async function deepestReal(path: string): Promise<{ path: string; isComplete: boolean }> {
  for (let part = path, isComplete = true; ; part = dirname(part), isComplete = false) {
    try {
      return { path: await realpath(part), isComplete };
    } catch (error) {
      if (!isMissing(error) || part === dirname(part)) throw error;
    }
  }
}

async function openFile(path: string): Promise<Located> {
  try {
    // Checked before opening, because opening a device or a pipe can have side effects.
    if (!(await stat(path)).isFile()) return { kind: 'missing' };
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await handle.stat();
    const close = () => handle.close();
    if (stats.isFile())
      return {
        kind: 'found',
        sizeBytes: stats.size,
        read: () => Readable.from(bytesOf(handle, stats.size), { objectMode: false }),
        close,
      };
    await close();
    return { kind: 'missing' };
  } catch (error) {
    if (isMissing(error)) return { kind: 'missing' };
    throw error;
  }
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Replaces the handle's own streams, which close it when they are abandoned. Reads exactly the announced bytes, even of a file that
 * someone is still copying: in a response, further bytes would pass for the next response.
 * @throws AppError SERVICE_UNAVAILABLE when the file has become shorter
 */
async function* bytesOf(handle: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes;) {
    const length = Math.min(CHUNK_BYTES, sizeBytes - position);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw unavailable('The archive has become shorter while it was read.');
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** Whether the name and not the storage is at fault. */
export function isMissing(error: unknown): boolean {
  return MISSING_CODES.has(errorCode(error));
}
