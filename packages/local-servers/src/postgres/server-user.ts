import { chownSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PlainError } from '../errors.ts';

/** Who runs PostgreSQL. It refuses to be root, so root lends it to an unprivileged user. */
export interface ServerUser {
  /** Absent: ourselves. */
  ids?: { uid: number; gid: number };
  /** Gives a file or folder of ours to that user. */
  own(path: string): void;
}

/** The user `nobody`, under the id that it has practically everywhere. */
const NOBODY = 65_534;

/** `dataDir` may exist already: then its owner goes on. */
export function serverUser(dataDir: string): ServerUser {
  const me = process.getuid?.();
  const owner = existsSync(join(dataDir, 'PG_VERSION')) ? statSync(dataDir) : undefined;
  if (me !== 0) {
    if (me !== undefined && owner && owner.uid !== me)
      throw new PlainError(
        `${dataDir} belongs to another user (id ${owner.uid}): start as that user or as root, or use another folder.`,
      );
    return { own: () => undefined };
  }
  const ids = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid: NOBODY, gid: NOBODY };
  return { ids, own: (path) => chownSync(path, ids.uid, ids.gid) };
}

/**
 * Makes paths usable for a child of another user. Where a folder above is closed to it (a checkout under /root), we open
 * them ourselves and hand the child our descriptors, which Linux lets it use as paths.
 */
export function reachableBy(user: ServerUser, paths: string[]) {
  if (!user.ids || paths.every((path) => isOpenToAll(dirname(path))))
    return { paths, descriptors: [], close: () => undefined };
  if (process.platform !== 'linux')
    throw new PlainError(`PostgreSQL cannot run as root under ${paths[0]}: start as a normal user.`);
  const descriptors = paths.map((path) => openSync(path, constants.O_RDONLY));
  return {
    paths: descriptors.map((_, index) => `/proc/self/fd/${3 + index}`),
    /** To be handed to the child as descriptors 3, 4, … */
    descriptors,
    close: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
  };
}

/** Whether every user may enter this folder: it and all folders above it let others through. */
export function isOpenToAll(folder: string): boolean {
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
