import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  readEntriesBeforeRows,
  readEntriesBehindRows,
  readSchemaVersion,
  readSequencePositions,
  readTables,
  type DumpEntry,
  type DumpTable,
} from './catalogue.ts';
import { createDumpFile, type DumpFile } from './dump-file.ts';
import type { DumpPolicy } from './dump-policy.ts';
import { refuseUnknownObjects } from './unknown-objects.ts';

export interface StoreDump {
  sha256: string;
  sizeBytes: number;
  /** By table; tables whose rows stay out are not named. */
  rows: Record<string, number>;
  serverVersion: string;
  schemaVersion: string | null;
}

export interface StoreDumpOptions {
  /** Of a snapshot. */
  client: Client;
  /** The file to make. */
  path: string;
  policy: DumpPolicy;
  /** Told from time to time how large the file is. */
  onWritten?: (bytes: number) => void;
}

/**
 * Writes all of a store as SQL, as `pg_dump --no-owner --no-privileges` does. Rows pass through in pieces.
 * @throws DumpError when the store has something that this cannot write
 */
export async function dumpStore({ client, path, policy, onWritten }: StoreDumpOptions): Promise<StoreDump> {
  const tables = await readTables(client);
  if (tables.length > 0)
    await client.query(`lock table ${tables.map(({ sqlName }) => sqlName).join(', ')} in access share mode`);
  await refuseUnknownObjects(client);
  const serverVersion = await readServerVersion(client);
  const schemaVersion = await readSchemaVersion(client);
  const rows: Record<string, number> = {};

  const file = await createDumpFile(path, onWritten);
  try {
    await file.write(headOf(serverVersion));
    for (const entry of await readEntriesBeforeRows(client)) await file.write(textOf(entry));
    for (const table of tables)
      if (!policy.withoutRows.has(table.name)) rows[table.name] = await writeRows({ client, file, table, policy });
    for (const entry of await readSequencePositions(client)) await file.write(textOf(entry));
    for (const entry of await readEntriesBehindRows(client)) await file.write(textOf(entry));
    await file.write(TAIL);
    return { ...(await file.finish()), rows, serverVersion, schemaVersion };
  } finally {
    await file.close();
  }
}

async function readServerVersion(client: Client): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  return rows[0]?.server_version ?? '';
}

interface RowsToWrite {
  client: Client;
  file: DumpFile;
  table: DumpTable;
  policy: DumpPolicy;
}

/** Returns how many there are. */
async function writeRows({ client, file, table, policy }: RowsToWrite): Promise<number> {
  const { name, sqlName, columns } = table;
  const columnList = columns.map((column) => column.sqlName).join(', ');
  const values = columns.map((column) => policy.replaced.get(`${name}.${column.name}`) ?? column.sqlName);
  const isReplaced = values.some((value, index) => value !== columns[index]?.sqlName);
  const source = isReplaced ? `(select ${values.join(', ')} from ${sqlName})` : `${sqlName} (${columnList})`;
  const copy = client.query(copyTo(`copy ${source} to stdout`));
  await file.write(
    `${commentOf({ name, type: 'TABLE DATA' }, 'Data for Name')}COPY ${sqlName} (${columnList}) FROM stdin;\n`,
  );
  for await (const part of copy) await file.write(part);
  await file.write('\\.\n\n\n');
  return copy.rowCount;
}

const headOf = (serverVersion: string) => `--
-- PostgreSQL database dump
--

-- Dumped from database version ${oneLine(serverVersion)}
-- Dumped by Taskmesh

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

function textOf(entry: DumpEntry): string {
  return `${commentOf(entry, 'Name')}${entry.statement};\n\n\n`;
}

function commentOf({ name, type }: Pick<DumpEntry, 'name' | 'type'>, title: string): string {
  return `--\n-- ${title}: ${oneLine(name)}; Type: ${type}; Schema: public; Owner: -\n--\n\n`;
}

/** A line break in a name would end the comment, and the rest of the name would run. */
function oneLine(name: string): string {
  return name.replaceAll(/[\r\n]/g, ' ');
}
