import { withoutValues } from '@taskmesh/store/without-values';
import { errorMessage } from '@taskmesh/contracts/error-details';
import { loadModule, parseSync } from 'libpg-query';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createDumpSchema, type DumpSchema, type Skipped } from './dump-schema.ts';
import { LoadError, refuse } from './load-error.ts';
import { planStatement, type Plan } from './plan-statement.ts';
import { createRestrictCheck } from './restrict.ts';
import type { ScriptReader, Statement } from './script-reader.ts';

export interface LoadReport {
  statements: number;
  /** Lines of COPY data, without the rows of INSERT statements. */
  copiedRows: number;
  bytes: number;
  skipped: Skipped[];
}

export interface Script {
  reader: ScriptReader;
  client: Client;
  onProgress: (bytesRead: number) => void;
}

/**
 * Loads the rows of a script into the schema of restored tables, all or none, in one transaction.
 * @throws LoadError with the line of anything not allowed or refused by PostgreSQL
 */
export async function runScript(script: Script): Promise<LoadReport> {
  const { reader, client, onProgress } = script;
  await loadModule();
  const schema = createDumpSchema();
  const checkRestrict = createRestrictCheck();
  const inserts = createBatch();
  let statements = 0;
  let copiedRows = 0;
  await client.query('begin');
  await client.query('set local search_path = pg_catalog');
  for (;;) {
    const part = await reader.next();
    onProgress(reader.bytesRead());
    if (part && 'meta' in part) checkRestrict(part);
    const plan = part && 'text' in part ? planOf(schema, part) : undefined;
    if (part && plan?.kind === 'insert') inserts.add({ line: part.line, sql: plan.sql });
    if (inserts.isFull() || plan?.kind !== 'insert') await runInserts(client, inserts.take());
    if (!part) break;
    statements++;
    if (plan?.kind === 'run') await told(part, () => client.query(plan.sql));
    if (plan?.kind === 'copy') copiedRows += await told(part, () => copy(script, plan.sql));
  }
  await client.query('commit');
  return { statements, copiedRows, bytes: reader.bytesRead(), skipped: schema.skipped() };
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
    return refuse(error instanceof RangeError ? 'it is nested too deeply' : 'it is no SQL'); // the parser would quote it
  }
}

async function copy({ reader, client, onProgress }: Script, sql: string | undefined): Promise<number> {
  const data = watchParts(reader.copyData(), () => onProgress(reader.bytesRead()));
  if (sql === undefined) {
    for await (const _chunk of data);
    return 0;
  }
  const target = client.query(copyFrom(sql));
  await pipeline(data, target);
  return target.rowCount;
}

async function* watchParts<Part>(parts: AsyncIterable<Part>, tell: () => void): AsyncGenerator<Part> {
  for await (const part of parts) {
    tell();
    yield part;
  }
}

const BATCH_STATEMENTS = 500;
const BATCH_CHARACTERS = 256 * 1024;

interface Insert {
  line: number;
  sql: string;
}

/** A hundred thousand INSERT statements would take a minute if each waited for the previous one. */
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
      const taken = inserts;
      inserts = [];
      characters = 0;
      return taken;
    },
  };
}

/** PostgreSQL confirms each statement before it runs the next one, so those confirmed say which one it refused. */
async function runInserts(client: Client, inserts: Insert[]): Promise<void> {
  let confirmed = 0;
  const count = () => void confirmed++;
  client.connection.on('commandComplete', count);
  try {
    if (inserts.length > 0) await client.query(inserts.map(({ sql }) => sql).join('\n'));
  } catch (cause) {
    throw withLine(inserts[Math.min(confirmed, inserts.length - 1)] as Insert, withoutValues(cause));
  } finally {
    client.connection.off('commandComplete', count);
  }
}

/** Adds the line to PostgreSQL's message; the reader's own messages have one. */
async function told<Result>(at: { line: number }, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof LoadError ? cause : withLine(at, withoutValues(cause));
  }
}

function withLine({ line }: { line: number }, cause: unknown): LoadError {
  return new LoadError(`Line ${line}: ${errorMessage(cause)}`, { cause });
}
