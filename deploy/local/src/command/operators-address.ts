import { isLoopbackHost, issueSignInCode } from '@taskmesh/service';
import type { MachineToken } from '../machine-token.ts';

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
