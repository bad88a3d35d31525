import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { errorMessage } from '../error-code.ts';
import { checkFrame } from './dump-frame.ts';
import { LoadError } from './load-error.ts';
import { createRestrictCheck } from './restrict.ts';
import { createScriptReader, type ScriptReader, type Statement } from './script-reader.ts';
import { createStatementJudge, type StatementJudge } from './statement-judge.ts';

export interface Load {
  /** A plain dump: SQL with COPY blocks, as pg_dump or a person writes it. */
  path: string;
  /** The database to fill, as an unprivileged role. */
  url: string;
  /** Ends the load when it fires. */
  signal: AbortSignal;
  /** Told from time to time. */
  onProgress?: (bytesRead: number) => void;
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
export async function loadDump({ path, url, signal, onProgress }: Load): Promise<LoadReport> {
  const file = await open(path);
  const client = new Client({ connectionString: url, application_name: 'taskmesh-restore' });
  client.on('error', () => undefined); // told by the query as well
  const cut = () => client.connection.stream.destroy(new Error('The load was ended.'));
  let judge: StatementJudge | undefined;
  try {
    signal.throwIfAborted();
    await checkFrame(file);
    judge = await createStatementJudge();
    await client.connect();
    signal.addEventListener('abort', cut, { once: true });
    const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
    return await runScript({ reader: createScriptReader(source), client, judge, onProgress });
  } catch (error) {
    if (signal.aborted) throw new LoadError(`The load was ended: ${errorMessage(signal.reason)}`);
    throw error;
  } finally {
    signal.removeEventListener('abort', cut);
    await client.end().catch(() => undefined);
    await judge?.close();
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
  let statements = 0;
  let copiedRows = 0;
  await client.query('begin');
  for (let part = await reader.next(); part; part = await reader.next()) {
    if ('meta' in part) checkRestrict(part);
    else {
      copiedRows += await runStatement(run, part);
      statements++;
    }
    onProgress?.(reader.bytesRead());
  }
  await client.query('commit');
  return { statements, copiedRows, bytes: reader.bytesRead() };
}

async function runStatement({ reader, client, judge }: Run, { text, line }: Statement): Promise<number> {
  const verdict = await judge.judge(text);
  if (verdict.kind === 'refuse') throw new LoadError(`Line ${line}: ${verdict.reason}.`);
  if (verdict.kind === 'skip') return 0;
  try {
    if (verdict.kind === 'copy') {
      const target = client.query(copyFrom(text));
      await pipeline(reader.copyData(), target);
      return target.rowCount;
    }
    // The extended protocol takes one statement only, whatever the text holds.
    const statement = { text: verdict.kind === 'replace' ? verdict.text : text, queryMode: 'extended' };
    await client.query(statement);
    return 0;
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError(`Line ${line}: ${errorMessage(cause)}`, { cause });
  }
}
