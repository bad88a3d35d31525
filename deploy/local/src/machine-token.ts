import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes operators of our own pages that are opened on this machine, where there is no BACKUP_TOKEN. */
export interface MachineToken {
  file: string;
  token: string;
}

const TOKEN = /^[\w-]{43}$/;

/** The token in this directory, the same at every start; made anew when there is none, or others could have read it. */
export function ensureMachineToken(dir: string): MachineToken {
  const file = join(dir, 'machine-token');
  const known = readOwn(file);
  if (known !== undefined) return { file, token: known };
  const token = randomBytes(32).toString('base64url');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  rmSync(`${file}.new`, { force: true }); // whose mode would stay
  writeFileSync(`${file}.new`, `${token}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { file, token };
}

function readOwn(file: string): string | undefined {
  try {
    const { mode, uid } = lstatSync(file);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    const token = readFileSync(file, 'utf8').trim();
    return isOurs && TOKEN.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
