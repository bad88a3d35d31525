import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import type { Client } from 'pg';
import { runScript } from '../src/load/load-dump.ts';
import { createScriptReader } from '../src/load/script-reader.ts';

/** The statements that PostgreSQL would receive for a dump, with the data after each COPY, and the skipped objects. Needs no server. */
export async function planDump(dump: string): Promise<{ sql: string[]; skipped: Record<string, number> }> {
  const sql: string[] = [];
  const take = (statement: string | { text: string }) => {
    if (typeof statement === 'string') return Promise.resolve(void sql.push(...statement.split('\n')));
    let data = `${statement.text}:`;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => done(void (data += ` ${chunk.toString()}`)),
      final: (done) => done(void sql.push(data.trimEnd())),
    });
  };
  const source = (async function* () {
    yield Buffer.from(dump);
  })();
  const script = {
    reader: createScriptReader(source),
    client: { query: take, connection: new EventEmitter() } as unknown as Client,
    schema: 'restored',
  };
  const { skipped } = await runScript(script);
  // The enclosing transaction, in which unqualified names refer to PostgreSQL's own objects.
  expect([sql.shift(), sql.shift(), sql.pop()]).toEqual(['begin', 'set local search_path = pg_catalog', 'commit']);
  const own = sql.map((statement) =>
    statement
      .trim()
      .replaceAll('pg_catalog.', '')
      .replaceAll(/"(\w+)"/g, '$1'),
  );
  return { sql: own.filter(Boolean), skipped: Object.fromEntries(skipped.map(({ kind, count }) => [kind, count])) };
}
