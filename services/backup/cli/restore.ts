import { queryOfRestore } from '@taskmesh/internal-api';
import { basename, resolve } from 'node:path';
import type { BackupClient, End } from './client.ts';
import { withDecrypted } from './decrypted.ts';
import { forecastText } from './forecast.ts';
import { leftOutText, messageText, printable } from './format.ts';
import type { Options } from './options.ts';
import type { ProgressView } from './progress.ts';
import { keptText } from './undo.ts';

export interface RestoreCommand {
  client: BackupClient;
  options: Options;
  cwd: string;
  view: ProgressView;
  work: (path: string) => Promise<End>;
  signal: AbortSignal | undefined;
  tell: (text: string, value: unknown) => void;
  /** @throws Error when the user declines */
  confirm: (what: string) => Promise<void>;
}

/** Every answer says so by specification, but nothing in Taskmesh needs a restart. */
const NO_RESTART = '; the application may need a restart';

/** Returns the exit status. */
export async function restore(command: RestoreCommand): Promise<number> {
  return command.options.dryRun ? tryRestore(command) : replaceStores(command);
}

async function replaceStores(command: RestoreCommand): Promise<number> {
  const { options, tell, confirm } = command;
  const what = options.stores ? `the store ${options.stores.map(printable).join(', ')}` : 'all data';
  await confirm(
    `Replace ${what} of ${options.url.origin} by those of ${printable(options.file)}? What was written since goes; an undo brings it back while it is kept (RESTORE_KEEP_OLD).`,
  );
  const end = await workOn(command, '/backup/restore');
  const { databaseRestored = false, skipped = [], dropped = [], safetyBackup, keptUntil } = end;
  const message = end.message.replace(NO_RESTART, '');
  const before = safetyBackup && `What was there before: ${safetyBackup}`;
  const text = [messageText(message), leftOutText(dropped), databaseRestored && keptText(keptUntil), before].flatMap(
    (line) => (line ? [printable(line)] : []),
  );
  tell(text.join('\n'), { message, databaseRestored, skipped, dropped, safetyBackup, keptUntil });
  return databaseRestored ? 0 : 1;
}

async function tryRestore(command: RestoreCommand): Promise<number> {
  const { message, data } = await workOn(command, '/backup/dry-run');
  command.tell(`${data ? `${forecastText(data)}\n` : ''}${messageText(message)}`, data);
  return data?.possible ? 0 : 1;
}

function workOn({ client, options, cwd, view, work, signal }: RestoreCommand, path: string): Promise<End> {
  const { file, identity } = options;
  const parameters = { ...options, ...(identity && { decryptedFrom: basename(file) }) };
  const run = (name: string) => work(`${path}?file=${encodeURIComponent(name)}${queryOfRestore(parameters)}`);
  return identity ? withDecrypted(client, { file, keyFile: resolve(cwd, identity), view, signal }, run) : run(file);
}
