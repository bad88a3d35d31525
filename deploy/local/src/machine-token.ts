import { ifThere, writeWhole } from '@taskmesh/local-servers';
import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes operators of our own pages that are opened on this machine, where there is no BACKUP_TOKEN. */
export type MachineToken = ReturnType<typeof ensureMachineToken>;

const TOKEN = /^[\w-]{43}$/;

/** The token in this directory, the same at every start; made anew when there is none, or others could have read it. */
export function ensureMachineToken(dir: string) {
  const file = join(dir, 'machine-token');
  const known = readOwn(file);
  if (known !== undefined) return { file, token: known };
  const token = randomBytes(32).toString('base64url');
  writeWhole(file, `${token}\n`);
  return { file, token };
}

function readOwn(file: string): string | undefined {
  return ifThere(() => {
    const { mode, uid } = lstatSync(file);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    const token = readFileSync(file, 'utf8').trim();
    return isOurs && TOKEN.test(token) ? token : undefined;
  });
}
