import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { errorMessage } from '../error-code.ts';
import { checkFrame } from './dump-frame.ts';
import { LoadError } from './load-error.ts';
import { createRestrictCheck } from './restrict.ts';
import { createScriptReader, type ScriptReader, type Statement } from './script-reader.ts';
import { startJudge, type SharedJudge, type StatementJudge } from './statement-judge.ts';
import type { Verdict } from './verdict.ts';

export interface Load {
  /** A plain dump: SQL with COPY blocks, as pg_dump or a person writes it. */
  path: string;
  /** The database to fill, as an unprivileged role. */
  url: string;
  /** Ends the load when it fires. */
  signal: AbortSignal;
  /** Who decides about its statements. @default one of its own, which takes a moment to start */
  judge?: SharedJudge | undefined;
  /** Told from time to time. */
  onProgress?: ((bytesRead: number) => void) | undefined;
}

export interface LoadReport {
  statements: number;
  /** Lines of COPY data; rows of INSERT statements are not counted. */
  copiedRows: number;
  bytes: number;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Fills a database from a dump over PostgreSQL's own protocol: all of it or nothing, in one transaction.
 * @throws LoadError with the line for everything that is not known to be harmless, and for what PostgreSQL refuses
 */
export async function loadDump({ path, url, signal, judge: shared, onProgress }: Load): Promise<LoadReport> {
  const file = await open(path);
  const client = new Client({ connectionString: url, application_name: 'taskmesh-restore' });
  client.on('error', () => undefined); // told by the query as well
  const judge = shared ?? startJudge();
  const cut = () => {
    client.connection.stream.destroy(new Error('The load was ended.'));
    void judge.close();
  };
  try {
    signal.throwIfAborted();
    await checkFrame(file);
    const connecting = client.connect();
    connecting.catch(() => undefined); // thrown below, after the parser
    const ready = await judge.ready();
    await connecting;
    signal.addEventListener('abort', cut, { once: true });
    signal.throwIfAborted(); // it may have fired while all this was started
    const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
    return await runScript({ reader: createScriptReader(source), client, judge: ready, onProgress });
  } catch (error) {
    if (signal.aborted) throw new LoadError(`The load was ended: ${errorMessage(signal.reason)}`);
    throw error;
  } finally {
    signal.removeEventListener('abort', cut);
    await client.end().catch(() => undefined);
    if (!shared) await judge.close();
    await file.close();
  }
}

interface Run {
  reader: ScriptReader;
  client: Client;
  judge: StatementJudge;
  onProgress: ((bytesRead: number) => void) | undefined;
}

async function runScript(run: Run): Promise<LoadReport> {
  const { reader, client, onProgress } = run;
  const checkRestrict = createRestrictCheck();
  const inserts = createBatch();
  let statements = 0;
  let copiedRows = 0;
  await client.query('begin');
  for (;;) {
    const part = await reader.next();
    const isInsert = part !== undefined && 'text' in part && INSERT.test(part.text);
    if (inserts.isFull() || !isInsert) await runInserts(run, inserts.take());
    onProgress?.(reader.bytesRead());
    if (!part) break;
    statements++;
    if ('meta' in part) checkRestrict(part);
    else if (isInsert) inserts.add(part);
    else copiedRows += await runStatement(run, part);
  }
  await client.query('commit');
  return { statements, copiedRows, bytes: reader.bytesRead() };
}

const INSERT = /^insert\s/i;
const BATCH_STATEMENTS = 500;
const BATCH_BYTES = 256 * 1024;

/** A dump of a hundred thousand INSERT statements would take a minute if each one waited for the one before. */
function createBatch() {
  let statements: Statement[] = [];
  let bytes = 0;
  return {
    add(statement: Statement) {
      statements.push(statement);
      bytes += statement.text.length;
    },
    isFull: () => statements.length >= BATCH_STATEMENTS || bytes >= BATCH_BYTES,
    take() {
      const taken = statements;
      statements = [];
      bytes = 0;
      return taken;
    },
  };
}

async function runInserts({ client, judge }: Run, statements: Statement[]): Promise<void> {
  const [first] = statements;
  if (!first) return;
  const verdicts = await judge.judge(statements.map(({ text }) => text));
  for (const [index, verdict] of verdicts.entries())
    if (verdict.kind !== 'run') throw refused(statements[index] ?? first, verdict);
  // Each was parsed as exactly one statement, so that one behind the other they are the same ones.
  await told(first, () => client.query(statements.map(({ text }) => text).join('\n')));
}

async function runStatement({ reader, client, judge, onProgress }: Run, statement: Statement): Promise<number> {
  const { text } = statement;
  const [verdict] = await judge.judge([text]);
  if (!verdict || verdict.kind === 'refuse') throw refused(statement, verdict);
  if (verdict.kind === 'skip') return 0;
  if (verdict.kind === 'copy')
    return told(statement, async () => {
      const target = client.query(copyFrom(text));
      await pipeline(
        watched(reader.copyData(), () => onProgress?.(reader.bytesRead())),
        target,
      );
      return target.rowCount;
    });
  // The extended protocol takes one statement only, whatever the text holds.
  const query = { text: verdict.kind === 'replace' ? verdict.text : text, queryMode: 'extended' };
  await told(statement, () => client.query(query));
  return 0;
}

async function* watched<Part>(parts: AsyncIterable<Part>, tell: () => void): AsyncGenerator<Part> {
  for await (const part of parts) {
    tell();
    yield part;
  }
}

function refused({ line }: Statement, verdict: Verdict | undefined): LoadError {
  return new LoadError(`Line ${line}: ${verdict?.kind === 'refuse' ? verdict.reason : 'it is not allowed in a dump'}.`);
}

/** What PostgreSQL says, with the line. */
async function told<Result>({ line }: Statement, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError(`Line ${line}: ${errorMessage(cause)}`, { cause });
  }
}
