import { attempt, writeAtomically } from '@taskmesh/local-servers';
import { isLoopbackHost, issueSignInCode } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Grants operator rights to our own pages when opened on this machine, if there is no BACKUP_TOKEN. */
export type MachineToken = ReturnType<typeof ensureMachineToken>;

const TOKEN = /^[\w-]{43}$/;

/** Returns the token in this directory, which stays the same; creates a new one if it is missing or others could have read it. */
export function ensureMachineToken(dir: string) {
  const file = join(dir, 'machine-token');
  const existing = readOwn(file);
  if (existing !== undefined) return { file, token: existing };
  const token = randomBytes(32).toString('base64url');
  writeAtomically(file, `${token}\n`);
  return { file, token };
}

function readOwn(file: string): string | undefined {
  return attempt(() => {
    const { mode, uid } = lstatSync(file);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    const token = readFileSync(file, 'utf8').trim();
    return isOurs && TOKEN.test(token) ? token : undefined;
  });
}

/**
 * Returns the URL at which operators start in a browser. At a terminal it contains a code that can be exchanged for the token
 * once, after the `#`, which browsers never send. Output to a file or another program, or a disk that cannot store the
 * code, names only the token's file.
 */
export function operatorsAddress(
  url: string,
  machineToken: MachineToken | undefined,
  { isTerminal }: { isTerminal: boolean },
): string {
  const address = `${url}/#/operations`;
  if (!machineToken) return `${address} (requires BACKUP_TOKEN)`;
  if (!isLoopbackHost(new URL(url).host)) return `${url}: on this machine only, or with a BACKUP_TOKEN`;
  const { file } = machineToken;
  const code = isTerminal && attempt(() => issueSignInCode(file, Date.now()));
  if (!code) return `${address} (requires the token in ${file})`;
  return `${address}?code=${code} (once, within 10 minutes; then it requires the token in ${file})`;
}
