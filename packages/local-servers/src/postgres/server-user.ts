import { chownSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PlainError } from '../errors.ts';

/** The user that runs PostgreSQL. PostgreSQL refuses to run as root, so root runs it as an unprivileged user. */
export interface ServerUser {
  /** Absent for the current user. */
  ids?: { uid: number; gid: number };
  /** Changes the owner of a file or folder to this user. */
  chown(path: string): void;
}

/** The id of the user `nobody` on practically every system. */
const NOBODY = 65_534;

/** The owner of `dataDir` if it exists already, so that its files stay accessible. */
export function serverUser(dataDir: string): ServerUser {
  const me = process.getuid?.();
  const owner = existsSync(join(dataDir, 'PG_VERSION')) ? statSync(dataDir) : undefined;
  if (me !== 0) {
    if (me !== undefined && owner && owner.uid !== me)
      throw new PlainError(
        `${dataDir} belongs to another user (id ${owner.uid}): start as that user or as root, or use another folder.`,
      );
    return { chown: () => undefined };
  }
  const ids = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid: NOBODY, gid: NOBODY };
  return { ids, chown: (path) => chownSync(path, ids.uid, ids.gid) };
}

/**
 * Makes paths accessible to a child process of another user. If a parent folder is closed to that user (a checkout under
 * /root), we open the paths and pass the descriptors to the child, which can use them as paths on Linux.
 */
export function makeReachable(user: ServerUser, paths: string[]) {
  if (!user.ids || paths.every((path) => isOpenToAll(dirname(path))))
    return { paths, descriptors: [], close: () => undefined };
  if (process.platform !== 'linux')
    throw new PlainError(`PostgreSQL cannot run as root under ${paths[0]}: start as a normal user.`);
  const descriptors = paths.map((path) => openSync(path, constants.O_RDONLY));
  return {
    paths: descriptors.map((_, index) => `/proc/self/fd/${3 + index}`),
    /** To pass to the child as descriptors 3, 4, … */
    descriptors,
    close: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
  };
}

/** Whether every user may enter this folder and all folders above it. */
export function isOpenToAll(folder: string): boolean {
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
