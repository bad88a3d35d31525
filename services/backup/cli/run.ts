import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createClient, Refused, Unreachable, type BackupClient, type CommandResult } from './client.ts';
import { backupTable, bytesText, messageText, printable } from './format.ts';
import { Interrupted } from './interruption.ts';
import { HELP, readOptions, UsageError, type Options } from './options.ts';
import { createProgressView, type ProgressView, type Terminal } from './progress.ts';
import { restore, describeUndo } from './restore.ts';

export interface CliEnvironment {
  args: string[];
  env: Readonly<Record<string, string | undefined>>;
  out: Terminal;
  err: Terminal;
  /** Paths are relative to this directory. */
  cwd: string;
  /** Prompts the user; undefined without a terminal. */
  prompt: ((question: string) => Promise<string>) | undefined;
  /** Aborted when the user interrupts the command. @default never */
  interrupted?: AbortSignal;
}

/** Runs one command and returns the exit status; never throws. */
export async function run(cli: CliEnvironment): Promise<number> {
  try {
    const options = readOptions(cli.args, cli.env);
    if (options === 'help') {
      cli.out.write(`${HELP}\n`);
      return 0;
    }
    return await runCommand(options, cli);
  } catch (error) {
    if (error instanceof Interrupted) {
      cli.err.write(`${error.message}\n`);
      return error.exitStatus;
    }
    cli.err.write(`${printable(error instanceof Error ? error.message : String(error))}\n`);
    if (error instanceof UsageError) cli.err.write('npm run backup -- --help shows all options.\n');
    return error instanceof UsageError ? 2 : error instanceof Unreachable ? 3 : 1;
  }
}

async function runCommand(options: Options, cli: CliEnvironment): Promise<number> {
  const { interrupted: signal } = cli;
  const client = createClient({ url: options.url, token: cli.env['BACKUP_TOKEN'] || undefined, signal });
  const view = options.json ? SILENT : createProgressView(cli.err);
  const { file, json } = options;
  const print = (text: string, value: unknown) => void cli.out.write(`${json ? JSON.stringify(value) : text}\n`);
  const done = ({ message, data }: CommandResult): number => {
    print(messageText(message), data ?? { message });
    return 0;
  };
  const work = async (path: string) => {
    try {
      return await client.work(path, view.show);
    } catch (error) {
      throw error instanceof Interrupted ? error.with('Taskmesh continues what it has started.') : error;
    } finally {
      view.end();
    }
  };

  switch (options.command) {
    case 'list': {
      const backups = await client.list();
      print(backupTable(backups), backups);
      return 0;
    }
    case 'create': {
      const { message, data } = await work('/backups');
      print(`${message} ${data?.file ?? ''} (${bytesText(data?.sizeBytes ?? 0)})`, data);
      return 0;
    }
    case 'scan': {
      const { message, data } = await work('/backups/scan');
      print(data?.unread ? `${message} ${data.unread} cannot be read here.` : message, data);
      return 0;
    }
    case 'verify':
      return done(await work(`/backups/${encodeURIComponent(file)}/verify`));
    case 'restore':
      return restore({
        ...{ client, options, view, work, print, signal, cwd: cli.cwd },
        confirm: (what) => confirm(options, cli, what),
      });
    case 'undo': {
      const undoable = await client.undoable();
      await confirm(options, cli, describeUndo(options.url.origin, undoable));
      return done(await work(`/backup/undo?restoredAt=${encodeURIComponent(undoable.restoredAt)}`));
    }
    case 'new-epoch': {
      await confirm(options, cli, `Make all clients of ${options.url.origin} start over?`);
      const query = options.atLeast === undefined ? '' : `?atLeast=${options.atLeast}`;
      return done(await work(`/backup/new-epoch${query}`));
    }
    case 'download': {
      const path = await download(client, { ...options, to: await downloadPath(file, options, cli) }, view);
      print(`Received ${printable(path)}.`, { path });
      return 0;
    }
    case 'upload': {
      const { message, data } = await upload(client, { ...options, file: resolve(cli.cwd, file), signal }, view);
      const unfit = data?.unfitReason ? ` It is not fit for a restore: ${data.unfitReason}` : '';
      print(`${message} ${printable((data?.file ?? '') + unfit)}`, data);
      return 0;
    }
    case 'delete': {
      await confirm(options, cli, `Delete ${printable(file)} of ${options.url.origin} permanently?`);
      return done(await client.remove(file));
    }
  }
}

const SILENT: ProgressView = { show: () => undefined, end: () => undefined };

async function confirm({ command, yes }: Options, { prompt }: CliEnvironment, question: string): Promise<void> {
  if (yes) return;
  if (!prompt) throw new UsageError(`Cannot ask for confirmation: ${command} needs --yes.`);
  if (!/^y(es)?$/i.test((await prompt(`${question} [y/N] `)).trim())) throw new Refused('Nothing was changed.');
}

/** The path to download to: `to`, or the file's own name in the folder `to`. */
async function downloadPath(file: string, { to = '.' }: Pick<Options, 'to'>, { cwd }: CliEnvironment): Promise<string> {
  const path = resolve(cwd, to);
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory();
  return isFolder ? join(path, basename(file)) : path;
}

/** The file gets its name only once it is complete. */
async function download(
  client: BackupClient,
  { file, to: path }: { file: string; to: string },
  view: ProgressView,
): Promise<string> {
  if (!(await exists(dirname(path)))) throw new UsageError(`There is no folder ${dirname(path)}.`);
  const nameTaken = () => new UsageError(`${path} already exists. Choose another file with --to.`);
  if (await exists(path)) throw nameTaken();
  const { content, sizeBytes, sha256 } = await client.download(file);
  const part = join(dirname(path), `.${randomUUID()}.part`); // unique, and short enough for a file name
  const hash = createHash('sha256');
  try {
    const counted = counter('download', { sizeBytes, view, onPart: (bytes) => hash.update(bytes) });
    await pipeline(content, counted, createWriteStream(part, { mode: 0o600, flags: 'wx' }));
    if (sha256 && hash.digest('hex') !== sha256) throw new Refused('The download is corrupt; try again.');
    await writeFile(path, '', { flag: 'wx' }); // the rename alone would replace a file that appeared meanwhile
    await rename(part, path);
    return path;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? nameTaken() : error;
  } finally {
    await rm(part, { force: true });
    view.end();
  }
}

async function upload(
  client: BackupClient,
  { file, as, signal }: Options & { signal: AbortSignal | undefined },
  view: ProgressView,
): Promise<CommandResult> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`There is no file ${file}.`);
  const content: Readable = createReadStream(file, { signal });
  const counted = counter('upload', { sizeBytes: found.size, view });
  try {
    const sending = pipeline(content, counted).catch(() => undefined); // the request rejects as well
    const result = await client.upload(as ?? basename(file), counted, found.size);
    await sending;
    return result;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    content.destroy();
    view.end();
  }
}

function counter(
  phase: 'upload' | 'download',
  { sizeBytes, view, onPart }: { sizeBytes: number; view: ProgressView; onPart?: (part: Buffer) => void },
): Transform {
  let doneBytes = 0;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      doneBytes += part.length;
      onPart?.(part);
      view.show({ phase, doneBytes, totalBytes: sizeBytes });
      done(null, part);
    },
  });
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
