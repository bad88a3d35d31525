import { unavailable } from '@taskmesh/errors';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { readSchemaVersion, readTables, type DumpTable } from './catalogue.ts';
import { DumpError } from './dump-error.ts';
import { createDumpFile, type DumpFile } from './dump-file.ts';
import { readServerVersion, type StoreDump, type StoreDumpOptions } from './dump-store.ts';
import { writeRows } from './rows.ts';

const VERSION_TIMEOUT_MS = 5_000;

export interface PgDump {
  program: string;
  /** Its whole environment, except for the password. */
  env: Readonly<Record<string, string | undefined>>;
}

/** pg_dump's major version; undefined when there is no such program. */
export async function majorOf({ program, env }: PgDump): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { env, timeout: VERSION_TIMEOUT_MS });
    const [, major] = /^pg_dump \(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
    return major === undefined ? undefined : Number(major);
  } catch {
    return undefined;
  }
}

const OPTIONS = [
  ...['--no-owner', '--no-privileges', '--no-password', '--no-tablespaces', '--no-security-labels'],
  ...['--no-publications', '--no-subscriptions', '--encoding=UTF8', '--lock-wait-timeout=10s'],
];

export interface ProgramDumpOptions extends StoreDumpOptions {
  pgDump: PgDump;
  /** The store's URL, whose password no other process may see. */
  url: string;
}

/**
 * Dumps the store with pg_dump, using our snapshot. Tables with values that the policy replaces are written by our own
 * code, at the end.
 * @throws DumpError when the program fails, with its output as the cause. AppError when a signal ends it
 */
export async function dumpWithProgram(options: ProgramDumpOptions): Promise<StoreDump> {
  const { client, path, policy, onWritten } = options;
  const tables = await readTables(client);
  const replaced = tables.filter(({ name, columns }) =>
    columns.some((column) => policy.replaced.has(`${name}.${column.name}`)),
  );
  const without = tables.filter((table) => policy.withoutRows.has(table.name) || replaced.includes(table));
  const serverVersion = await readServerVersion(client);
  const schemaVersion = await readSchemaVersion(client);
  const rows: Record<string, number> = {};

  const file = await createDumpFile(path, onWritten);
  try {
    const trailer = await runProgram(options, without, file);
    for (const table of replaced) rows[table.name] = await writeRows({ client, file, table, policy });
    await file.write(trailer);
    for (const table of tables)
      rows[table.name] ??= policy.withoutRows.has(table.name) ? 0 : await countRows(client, table);
    return { ...(await file.finish()), rows, serverVersion, schemaVersion };
  } finally {
    await file.close();
  }
}

const TRAILER = '--\n-- PostgreSQL database dump complete\n--\n';
/** More than the trailer and what pg_dump writes after it. */
const TAIL_BYTES = 1_024;

/** Writes everything but the trailer, which it returns. */
async function runProgram(options: ProgramDumpOptions, without: DumpTable[], file: DumpFile): Promise<string> {
  const { client, pgDump, url, signal } = options;
  const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
  const { dbname, password } = withoutPassword(url);
  const excluded = without.map(({ name }) => `--exclude-table-data=public.${quoteName(name)}`);
  const child = spawn(
    pgDump.program,
    [...OPTIONS, `--snapshot=${rows[0]?.id ?? ''}`, ...excluded, `--dbname=${dbname}`],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal && { signal }),
      killSignal: 'SIGKILL',
      env: { ...pgDump.env, LC_ALL: 'C', ...(password !== '' && { PGPASSWORD: password }) },
    },
  );
  const closed = once(child, 'close');
  closed.catch(() => undefined); // awaited below
  const said = text(child.stderr);
  said.catch(() => undefined);
  try {
    let tail = Buffer.alloc(0);
    for await (const part of child.stdout as AsyncIterable<Buffer>) {
      const whole = Buffer.concat([tail, part]);
      const end = Math.max(0, whole.length - TAIL_BYTES);
      if (end > 0) await file.write(whole.subarray(0, end));
      tail = whole.subarray(end);
    }
    const [code, endedBy] = (await closed) as [number | null, NodeJS.Signals | null];
    // A terminal signals the whole process group; that says nothing about the store.
    if (endedBy !== null) throw unavailable('The backup was not made: pg_dump was ended by somebody.');
    const at = tail.lastIndexOf(TRAILER);
    if (code !== 0 || at === -1)
      throw new DumpError(`pg_dump failed (exit code ${code}), see the log`, { cause: new Error(await said) });
    await file.write(tail.subarray(0, at));
    return tail.toString('utf8', at);
  } finally {
    child.kill('SIGKILL');
  }
}

function withoutPassword(url: string): { dbname: string; password: string } {
  const parsed = new URL(url);
  const password = decodeURIComponent(parsed.password);
  parsed.password = '';
  return { dbname: parsed.href, password };
}

/** Quoted names are literal in pg_dump's patterns. */
const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

async function countRows(client: Client, { sqlName }: DumpTable): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${sqlName}`);
  return Number(rows[0]?.count);
}
