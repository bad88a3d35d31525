import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  lockTables,
  readEntriesAfterRows,
  readEntriesBeforeRows,
  readSequencePositions,
  type DumpEntry,
  type DumpTable,
  type RowsOf,
} from './catalogue.ts';
import { refuseUndumpableObjects } from './dumpable.ts';

export interface DumpOptions {
  /** A connection inside a transaction with one snapshot, such as `openSnapshot` begins. */
  client: Client;
  /** The file to create, with mode 600. If the dump fails, the file is incomplete: delete it. */
  path: string;
  /** @default all rows of all tables */
  rowsOf?: RowsOf | undefined;
  /** Called with the number of bytes written so far. An exception aborts the dump. */
  onWritten?: ((bytes: number) => void | Promise<void>) | undefined;
}

export interface Dump {
  /** The hash of the file, in hexadecimal. */
  sha256: string;
  sizeBytes: number;
  /** The number of rows written, by table; 0 for tables whose rows are omitted. */
  rows: Record<string, number>;
  /** The version of PostgreSQL, such as 16.4. */
  serverVersion: string;
}

/**
 * Writes the schema `public` and its rows as SQL, like `pg_dump --no-owner --no-privileges --schema public`. Streams the rows,
 * so the memory needed does not depend on their number.
 * @throws DumpError when the database has rows that a restore would not recover; errors of PostgreSQL and of the file
 */
export async function dumpDatabase({ client, path, rowsOf = () => 'all', onWritten }: DumpOptions): Promise<Dump> {
  const tables = await lockTables(client);
  await refuseUndumpableObjects(client);
  const version = await client.query<{ server_version: string }>('show server_version');
  const serverVersion = version.rows[0]?.server_version ?? '';
  const rows: Record<string, number> = {};

  const file = await createFile(path, onWritten);
  try {
    await file.write(headOf(serverVersion));
    for (const entry of await readEntriesBeforeRows(client)) await file.write(textOf(entry));
    for (const table of tables) {
      const which = rowsOf(table.name);
      rows[table.name] = which === 'none' ? 0 : await writeRows(client, file, table, which === 'all' ? {} : which);
    }
    for (const entry of await readSequencePositions(client)) await file.write(textOf(entry));
    for (const entry of await readEntriesAfterRows(client)) await file.write(textOf(entry));
    await file.write(TAIL);
    return { ...(await file.finish()), rows, serverVersion };
  } finally {
    await file.close();
  }
}

type Replaced = Readonly<Record<string, string>>;

/** Returns the number of rows. */
export async function writeRows(
  client: Client,
  file: Pick<DumpFile, 'write'>,
  { name, sqlName, columns }: DumpTable,
  replaced: Replaced = {},
): Promise<number> {
  const columnList = columns.map((column) => column.sqlName).join(', ');
  const values = columns.map((column) => replaced[column.name] ?? column.sqlName).join(', ');
  const source = values === columnList ? `${sqlName} (${columnList})` : `(select ${values} from ${sqlName})`;
  await file.write(
    `${commentOf({ name, type: 'TABLE DATA' }, 'Data for Name')}COPY ${sqlName} (${columnList}) FROM stdin;\n`,
  );
  // No await between these two lines: the error of a lost connection would have no listener.
  const copy = client.query(copyTo(`copy ${source} to stdout`));
  for await (const part of copy) await file.write(part);
  await file.write('\\.\n\n\n');
  return copy.rowCount;
}

const headOf = (serverVersion: string) => `--
-- PostgreSQL database dump
--

-- Dumped from database version ${oneLine(serverVersion)}
-- Dumped by pg-rows

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

`;

const TAIL = `--
-- PostgreSQL database dump complete
--

`;

const textOf = (entry: DumpEntry) => `${commentOf(entry, 'Name')}${entry.statement};\n\n\n`;

const commentOf = ({ name, type }: Pick<DumpEntry, 'name' | 'type'>, title: string) =>
  `--\n-- ${title}: ${oneLine(name)}; Type: ${type}; Schema: public; Owner: -\n--\n\n`;

/** A line break in a name would end the comment, and the rest of the name would be executed. */
const oneLine = (name: string) => name.replaceAll(/[\r\n]/g, ' ');

type DumpFile = Awaited<ReturnType<typeof createFile>>;

const BUFFER_BYTES = 256 * 1024;

/** Buffers small parts before writing them. */
async function createFile(path: string, onWritten: DumpOptions['onWritten']) {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let parts: Buffer[] = [];
  let bufferedBytes = 0;
  let sizeBytes = 0;

  const flush = async () => {
    const buffer = Buffer.concat(parts);
    parts = [];
    bufferedBytes = 0;
    hash.update(buffer);
    sizeBytes += buffer.length;
    await file.writeFile(buffer);
    await onWritten?.(sizeBytes);
  };

  return {
    async write(part: string | Buffer): Promise<void> {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      parts.push(bytes);
      bufferedBytes += bytes.length;
      if (bufferedBytes >= BUFFER_BYTES) await flush();
    },
    async finish() {
      await flush();
      return { sha256: hash.digest('hex'), sizeBytes };
    },
    close: () => file.close(),
  };
}
