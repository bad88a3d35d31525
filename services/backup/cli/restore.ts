import { queryOfRestore, type RestoreForecast, type UndoableRestore } from '@taskmesh/internal-api';
import { basename, resolve } from 'node:path';
import type { BackupClient, CommandResult } from './client.ts';
import { withDecrypted } from './decrypted.ts';
import { leftOutText, messageText, printable, timeText } from './format.ts';
import type { Options } from './options.ts';
import type { ProgressView } from './progress.ts';

export interface RestoreCommand {
  client: BackupClient;
  options: Options;
  cwd: string;
  view: ProgressView;
  work: (path: string) => Promise<CommandResult>;
  signal: AbortSignal | undefined;
  print: (text: string, value: unknown) => void;
  /** @throws Error when the user declines */
  confirm: (what: string) => Promise<void>;
}

/** The API must say this in every response, but nothing in Taskmesh needs a restart. */
const NO_RESTART = '; the application may need a restart';

/** Returns the exit status. */
export async function restore(command: RestoreCommand): Promise<number> {
  return command.options.dryRun ? previewRestore(command) : replaceStores(command);
}

async function replaceStores(command: RestoreCommand): Promise<number> {
  const { options, print, confirm } = command;
  const what = options.stores ? `the store ${options.stores.map(printable).join(', ')}` : 'all data';
  await confirm(
    `Replace ${what} of ${options.url.origin} with the contents of ${printable(options.file)}? Later changes are lost, unless an undo brings them back in time (RESTORE_KEEP_OLD).`,
  );
  const end = await workOn(command, '/backup/restore');
  const { databaseRestored = false, skipped = [], dropped = [], safetyBackup, keptUntil } = end;
  const message = end.message.replace(NO_RESTART, '');
  const safety = safetyBackup && `Safety backup: ${safetyBackup}`;
  const text = [messageText(message), leftOutText(dropped), databaseRestored && keptText(keptUntil), safety].flatMap(
    (line) => (line ? [printable(line)] : []),
  );
  print(text.join('\n'), { message, databaseRestored, skipped, dropped, safetyBackup, keptUntil });
  return databaseRestored ? 0 : 1;
}

async function previewRestore(command: RestoreCommand): Promise<number> {
  const { message, data } = await workOn(command, '/backup/dry-run');
  command.print(`${data ? `${forecastText(data)}\n` : ''}${messageText(message)}`, data);
  return data?.possible ? 0 : 1;
}

function workOn({ client, options, cwd, view, work, signal }: RestoreCommand, path: string): Promise<CommandResult> {
  const { file, identity } = options;
  const parameters = { ...options, ...(identity && { decryptedFrom: basename(file) }) };
  const run = (name: string) => work(`${path}?file=${encodeURIComponent(name)}${queryOfRestore(parameters)}`);
  return identity ? withDecrypted(client, { file, keyFile: resolve(cwd, identity), view, signal }, run) : run(file);
}

const idsText = (deleted: number, restored?: number) => `: ${deleted} would be deleted, ${restored} would come back`;

function rowsText(store: string, { name, now, after, gone, back }: RestoreForecast['stores'][number]['rows'][number]) {
  return `rows of ${store}.${name}: ${now} now, ${after} after the restore${gone === undefined ? '' : idsText(gone, back)}`;
}

function forecastText({ stores, accounts, obstacles, skipped, dropped, tookMs }: RestoreForecast): string {
  const rows = stores.flatMap(({ store, rows: tables }) => tables.map((table) => rowsText(store, table)));
  const lines = [
    ...rows,
    accounts &&
      `accounts: ${accounts.now} now, ${accounts.after} after the restore${idsText(accounts.gone, accounts.back)}; sessions that end: ${accounts.sessionsEnding}`,
    skipped.length > 0 && `Skipped: ${skipped.map(({ kind, count }) => `${kind} (${count})`).join(', ')}`,
    leftOutText(dropped),
    ...obstacles.map((obstacle) => `Obstacle: ${obstacle}`),
    `It took ${(tookMs / 1000).toFixed(1)} s.`,
  ];
  return lines.flatMap((line) => (line ? [printable(line)] : [])).join('\n');
}

const HOUR_MS = 60 * 60_000;

export function describeUndo(origin: string, undoable: UndoableRestore): string {
  const { file, stores, isUndo, restoredAt, keptUntil, replacedKeptMs } = undoable;
  const what = `the ${isUndo ? 'undo of a restore' : 'restore'} of ${printable(file)} (${stores.join(', ')})`;
  const consequence =
    replacedKeptMs > 0
      ? `Later changes are kept for ${Number((replacedKeptMs / HOUR_MS).toFixed(1))} h, for another undo.`
      : 'Later changes are lost, because RESTORE_KEEP_OLD is 0.';
  return `Undo ${what} from ${timeText(restoredAt)} at ${origin}? This is possible until ${timeText(keptUntil)}. ${consequence}`;
}

/** Empty if Taskmesh does not report it. */
function keptText(keptUntil: string | null | undefined): string {
  if (keptUntil === undefined) return '';
  return keptUntil === null
    ? 'The replaced databases are not kept, so the restore cannot be undone.'
    : `Until ${timeText(keptUntil)}, or the next restore, "npm run backup -- undo" brings back the replaced databases.`;
}
