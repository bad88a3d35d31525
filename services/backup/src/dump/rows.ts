import type { StoreTable } from '@taskmesh/internal-api';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { DumpEntry, DumpTable } from './catalogue.ts';
import type { DumpFile } from './dump-file.ts';

export interface RowsToWrite {
  client: Client;
  file: DumpFile;
  table: DumpTable;
  /** What to write instead of the values, by column. */
  replaced?: StoreTable['replaced'];
}

/** Returns the number of rows. */
export async function writeRows({ client, file, table, replaced = {} }: RowsToWrite): Promise<number> {
  const { name, sqlName, columns } = table;
  const columnList = columns.map((column) => column.sqlName).join(', ');
  const values = columns.map((column) => replaced[column.name] ?? column.sqlName);
  const isReplaced = values.some((value, index) => value !== columns[index]?.sqlName);
  const source = isReplaced ? `(select ${values.join(', ')} from ${sqlName})` : `${sqlName} (${columnList})`;
  await file.write(
    `${commentOf({ name, type: 'TABLE DATA' }, 'Data for Name')}COPY ${sqlName} (${columnList}) FROM stdin;\n`,
  );
  // Nothing may come between these two: the error of a lost connection would have no listener.
  const copy = client.query(copyTo(`copy ${source} to stdout`));
  for await (const part of copy) await file.write(part);
  await file.write('\\.\n\n\n');
  return copy.rowCount;
}

export function commentOf({ name, type }: Pick<DumpEntry, 'name' | 'type'>, title: string): string {
  return `--\n-- ${title}: ${oneLine(name)}; Type: ${type}; Schema: public; Owner: -\n--\n\n`;
}

/** A line break in a name would end the comment, and the rest of the name would be executed. */
export function oneLine(name: string): string {
  return name.replaceAll(/[\r\n]/g, ' ');
}
