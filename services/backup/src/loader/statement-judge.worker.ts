/** A thread of its own for PostgreSQL's parser: what a hostile statement does to it ends with the thread. */
import { loadModule, parseSync } from 'libpg-query';
import { parentPort } from 'node:worker_threads';
import { judgeStatement } from './statement-policy.ts';
import { refuse, SKIP, type Verdict } from './verdict.ts';

await loadModule();

parentPort?.on('message', (texts: string[]) => parentPort?.postMessage(texts.map(judge)));
parentPort?.postMessage('ready');

function judge(text: string): Verdict {
  try {
    const { stmts = [] } = parseSync(text);
    if (stmts.length > 1) return refuse('several statements look like one');
    const statement = stmts[0]?.stmt;
    return statement ? judgeStatement(statement) : SKIP; // a semicolon or a comment
  } catch (error) {
    return refuse(error instanceof RangeError ? 'it is nested too deeply' : `it is no SQL (${String(error)})`);
  }
}
