import { loadModule, parseSync } from 'libpg-query';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createDumpSchema, type DumpSchema, type Skipped } from './dump-schema.ts';
import { LoadError, refuse } from './load-error.ts';
import { planStatement, type Plan } from './plan-statement.ts';
import { createScriptReader, type MetaCommand, type ScriptReader, type Statement } from './script-reader.ts';

export interface LoadOptions {
  /** The dump: SQL with COPY blocks in UTF-8, written by `dumpDatabase`, by pg_dump (plain format) or by hand. */
  path: string;
  /**
   * A connection whose role may create tables in `schema`; it needs no other privilege. If absent, the dump is only read, to
   * count the objects that a load would skip.
   */
  client?: Client | undefined;
  /** The schema in which to create the tables. Must exist and be empty. */
  schema: string;
  /** Limited because each table holds locks until the load ends. @default 1_000 */
  maxTables?: number | undefined;
  /**
   * Converts PostgreSQL's errors, whose messages may quote rows. The result becomes the cause of the LoadError, and its message
   * part of the LoadError's message. @default leaves errors unchanged
   */
  describe?: ((error: unknown) => unknown) | undefined;
  /** Called often, with the number of bytes read so far. */
  onProgress?: ((bytesRead: number) => void) | undefined;
}

export interface LoadReport {
  statements: number;
  /** Rows loaded by COPY. Rows of INSERT statements are not counted. */
  copiedRows: number;
  bytes: number;
  /** The number of skipped objects, by kind. */
  skipped: Skipped[];
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Loads all rows of a dump in one transaction, or none. Creates tables with columns of built-in types, their constant
 * defaults and their rows; executes nothing else of the dump.
 * @throws LoadError with the line of any statement that is not allowed or that PostgreSQL rejects
 */
export async function loadDump({ path, ...script }: LoadOptions): Promise<LoadReport> {
  await using file = await open(path);
  await checkFormat(file);
  const source = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES });
  try {
    return await runScript({ ...script, reader: createScriptReader(source) });
  } finally {
    source.destroy();
  }
}

/** Applied to latin1 text, so a byte order mark is three characters. */
const HEAD = /^(?:\xef\xbb\xbf)?\s*--\r?\n-- PostgreSQL database dump\r?\n/;
const TAIL = /^-- PostgreSQL database dump complete\r?$/m;
const EDGE_BYTES = 4_096;

/** @throws LoadError for a file that begins like a dump of pg_dump but does not end like one, or that has another format */
async function checkFormat(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const head = await textAt(file, 0);
  if (head.startsWith('PGDMP')) throw new LoadError("The dump is in pg_dump's custom format; a plain one is needed.");
  if (HEAD.test(head) && !TAIL.test(await textAt(file, Math.max(0, size - EDGE_BYTES))))
    throw new LoadError('The dump is incomplete: it begins like a dump of pg_dump, but does not end like one.');
}

async function textAt(file: FileHandle, position: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(EDGE_BYTES), 0, EDGE_BYTES, position);
  return buffer.toString('latin1', 0, bytesRead);
}

export interface Script extends Omit<LoadOptions, 'path'> {
  reader: ScriptReader;
}

export async function runScript(script: Script): Promise<LoadReport> {
  const { reader, client, onProgress, describe = (error) => error } = script;
  await loadModule();
  const schema = createDumpSchema(script);
  const checkRestrict = createRestrictCheck();
  const inserts = createBatch();
  let statements = 0;
  let copiedRows = 0;
  await client?.query('begin');
  await client?.query('set local search_path = pg_catalog');
  for (;;) {
    const part = await reader.next();
    onProgress?.(reader.bytesRead());
    if (part && 'meta' in part) checkRestrict(part);
    const plan = part && 'text' in part ? planOf(schema, part) : undefined;
    if (part && plan?.kind === 'insert') inserts.add({ line: part.line, sql: plan.sql });
    if (inserts.isFull() || plan?.kind !== 'insert') await runInserts(client, inserts.take(), describe);
    if (!part) break;
    statements++;
    try {
      if (plan?.kind === 'run') await client?.query(plan.sql);
      if (plan?.kind === 'copy') copiedRows += await copy(script, plan.sql);
    } catch (cause) {
      throw cause instanceof LoadError ? cause : withLine(part, describe(cause));
    }
  }
  await client?.query('commit');
  return { statements, copiedRows, bytes: reader.bytesRead(), skipped: schema.skipped() };
}

/** Allows only the psql commands that pg_dump writes, `\restrict KEY` … `\unrestrict KEY`. They have no effect here. */
function createRestrictCheck(): (command: MetaCommand) => void {
  let key: string | undefined;
  return ({ meta, line }) => {
    const [, name, value] = /^\\(restrict|unrestrict) ([A-Za-z0-9]+)$/.exec(meta) ?? [];
    const isStart = name === 'restrict' && key === undefined;
    const isEnd = name === 'unrestrict' && key === value;
    if (!isStart && !isEnd) throw new LoadError(`Line ${line} is a command for psql, which is not allowed in a dump.`);
    key = isStart ? value : undefined;
  };
}

function planOf(schema: DumpSchema, statement: Statement): Plan {
  try {
    const { stmts = [] } = parse(statement.text);
    if (stmts.length > 1) refuse('several statements look like one');
    const [only] = stmts;
    return only?.stmt ? planStatement(schema, only.stmt) : { kind: 'nothing' }; // a semicolon or a comment
  } catch (cause) {
    throw withLine(statement, cause);
  }
}

function parse(text: string) {
  try {
    return parseSync(text);
  } catch (error) {
    return refuse(error instanceof RangeError ? 'it is nested too deeply' : 'it is not SQL'); // the parser's message would quote the text
  }
}

async function copy({ reader, client, onProgress }: Script, sql: string | undefined): Promise<number> {
  const data = watchParts(reader.copyData(), () => onProgress?.(reader.bytesRead()));
  if (!client || sql === undefined) {
    for await (const _chunk of data);
    return 0;
  }
  const target = client.query(copyFrom(sql));
  await pipeline(data, target);
  return target.rowCount;
}

async function* watchParts<Part>(parts: AsyncIterable<Part>, onPart: () => void): AsyncGenerator<Part> {
  for await (const part of parts) {
    onPart();
    yield part;
  }
}

const BATCH_STATEMENTS = 500;
const BATCH_CHARACTERS = 256 * 1024;

interface Insert {
  line: number;
  sql: string;
}

/** Collects INSERT statements: a hundred thousand would take a minute if each waited for the previous one. */
function createBatch() {
  let inserts: Insert[] = [];
  let characters = 0;
  return {
    add(insert: Insert) {
      inserts.push(insert);
      characters += insert.sql.length;
    },
    isFull: () => inserts.length >= BATCH_STATEMENTS || characters >= BATCH_CHARACTERS,
    take(): Insert[] {
      const batch = inserts;
      inserts = [];
      characters = 0;
      return batch;
    },
  };
}

/** PostgreSQL confirms each statement before it runs the next one, so the number of confirmations identifies the failed statement. */
async function runInserts(
  client: Client | undefined,
  inserts: Insert[],
  describe: (error: unknown) => unknown,
): Promise<void> {
  if (!client || inserts.length === 0) return;
  let confirmed = 0;
  const count = () => void confirmed++;
  client.connection.on('commandComplete', count);
  try {
    await client.query(inserts.map(({ sql }) => sql).join('\n'));
  } catch (cause) {
    throw withLine(inserts[Math.min(confirmed, inserts.length - 1)] as Insert, describe(cause));
  } finally {
    client.connection.off('commandComplete', count);
  }
}

function withLine({ line }: { line: number }, cause: unknown): LoadError {
  return new LoadError(`Line ${line}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}
