import { ifThere, writeWhole } from '@taskmesh/local-servers';
import { isLoopbackHost, issueSignInCode } from '@taskmesh/service';
import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes operators of our own pages that are opened on this machine, where there is no BACKUP_TOKEN. */
export type MachineToken = ReturnType<typeof ensureMachineToken>;

const TOKEN = /^[\w-]{43}$/;

/** The token in this directory, the same at every start; made again when there is none, or others could have read it. */
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

/**
 * Where operators begin in a browser. At a terminal it has a code that stands for the token once: behind the `#`, which no
 * browser sends. What goes into a file or to another program names the token's file only.
 */
export function operatorsAddress(
  url: string,
  machineToken: MachineToken | undefined,
  { isTerminal }: { isTerminal: boolean },
): string {
  const address = `${url}/#/operations`;
  if (!machineToken) return `${address} (asks for BACKUP_TOKEN)`;
  if (!isLoopbackHost(new URL(url).host)) return `${url}: on this machine only, or with a BACKUP_TOKEN`;
  const { file } = machineToken;
  if (!isTerminal) return `${address} (asks for what is in ${file})`;
  return `${address}?code=${issueSignInCode(file, Date.now())} (once, within 10 minutes; then it asks for what is in ${file})`;
}
