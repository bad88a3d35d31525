import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether every user may enter this folder: it and all folders above it let others through. */
export function isOpenToAll(folder: string): boolean {
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
