import { isLoopbackHost } from '@taskmesh/service';
import type { MachineToken } from '../machine-token.ts';

/**
 * Where operators begin in a browser. The token stands behind the `#`, which no browser sends, and is for a terminal
 * only: what goes into a file or to another program names the token's file.
 */
export function operatorsAddress(
  url: string,
  machineToken: MachineToken | undefined,
  { isTerminal }: { isTerminal: boolean },
): string {
  const address = `${url}/#/operations`;
  if (!machineToken) return `${address} (asks for BACKUP_TOKEN)`;
  if (!isLoopbackHost(new URL(url).host)) return `${url}: on this machine only, or with a BACKUP_TOKEN`;
  return isTerminal
    ? `${address}?token=${machineToken.token}`
    : `${address} (asks for what is in ${machineToken.file})`;
}
