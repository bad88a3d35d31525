import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import type { Client } from 'pg';
import { runScript } from '../src/load/load-dump.ts';
import { createScriptReader } from '../src/load/script-reader.ts';

/** Runs a dump against a server that accepts everything. Returns what the server received, with the data after each COPY. */
export async function runDump(dump: string) {
  const queries: { text: string; data?: string }[] = [];
  const connection = new EventEmitter();
  const query = (statement: string | { text: string }) => {
    if (typeof statement !== 'string') {
      const copy = { text: statement.text, data: '' };
      queries.push(copy);
      return new Writable({ write: (chunk: Buffer, _encoding, done) => done(void (copy.data += ` ${chunk}`)) });
    }
    queries.push({ text: statement });
    for (const _ of statement.split('\n')) connection.emit('commandComplete');
    return Promise.resolve();
  };
  const source = (async function* () {
    yield Buffer.from(dump);
  })();
  const client = { query, connection } as unknown as Client;
  const { skipped } = await runScript({ reader: createScriptReader(source), client, schema: 'restored' });
  return { queries, skipped: Object.fromEntries(skipped.map(({ kind, count }) => [kind, count])) };
}

/** The statements that PostgreSQL would receive for a dump, and the skipped objects. Needs no server. */
export async function planDump(dump: string): Promise<{ sql: string[]; skipped: Record<string, number> }> {
  const { queries, skipped } = await runDump(dump);
  const sql = queries.flatMap(({ text, data }) =>
    data === undefined ? text.split('\n') : `${text}:${data}`.trimEnd(),
  );
  // The enclosing transaction, in which unqualified names refer to PostgreSQL's own objects.
  expect([sql.shift(), sql.shift(), sql.pop()]).toEqual(['begin', 'set local search_path = pg_catalog', 'commit']);
  const own = sql.map((statement) =>
    statement
      .trim()
      .replaceAll('pg_catalog.', '')
      .replaceAll(/"(\w+)"/g, '$1'),
  );
  return { sql: own.filter(Boolean), skipped };
}
