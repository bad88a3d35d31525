import { mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.ts';

/** Makes sure that a directory exists and is writable. @throws ConfigError that names `setting` */
export function ensureWritableDirectory(setting: string, dir: string, mode = 0o777): void {
  try {
    make(dir, mode);
    rmdirSync(mkdtempSync(join(dir, '.writable-')));
  } catch (error) {
    const reason = Error.isError(error) && 'code' in error ? String(error.code) : String(error);
    throw new ConfigError([
      `${setting} must lead to a directory that can be written (${reason}: ${JSON.stringify(dir)})`,
    ]);
  }
}

/** Level by level: Node's `recursive` hangs where a parent exists but cannot be written, as below /proc. */
function make(dir: string, mode: number): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(dir) !== dir) make(dirname(dir), mode);
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error; // another process may have been faster
  }
}
