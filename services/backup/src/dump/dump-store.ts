import type { StoreTables } from '@taskmesh/internal-api';
import type { Client } from 'pg';
import {
  readEntriesBeforeRows,
  readEntriesBehindRows,
  readSchemaVersion,
  readSequencePositions,
  readTables,
  type DumpEntry,
} from './catalogue.ts';
import { createDumpFile, type OnWritten } from './dump-file.ts';
import { commentOf, oneLine, writeRows } from './rows.ts';
import { refuseUnknownObjects } from './unknown-objects.ts';

export interface StoreDump {
  sha256: string;
  sizeBytes: number;
  /** By table; 0 for tables whose rows are left out. */
  rows: Record<string, number>;
  serverVersion: string;
  schemaVersion: string | null;
}

export interface StoreDumpOptions {
  /** The snapshot's connection. */
  client: Client;
  path: string;
  /** The tables whose rows are treated specially; all rows of any other table are written. */
  declared: StoreTables;
  /** Writes no rows at all. */
  withoutRows?: boolean;
  onWritten?: OnWritten;
}

/**
 * Writes the whole store as SQL, like `pg_dump --no-owner --no-privileges`. Streams the rows.
 * @throws DumpError when the store contains something that this cannot write
 */
export async function dumpStore(options: StoreDumpOptions): Promise<StoreDump> {
  const { client, path, declared, withoutRows = false, onWritten } = options;
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
    for (const table of tables) {
      const { archived = 'rows', replaced } = declared[table.name] ?? {};
      const isEmpty = withoutRows || archived === 'nothing';
      rows[table.name] = isEmpty ? 0 : await writeRows({ client, file, table, replaced });
    }
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
