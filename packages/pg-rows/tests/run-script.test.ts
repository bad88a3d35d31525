import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import type { Client } from 'pg';
import { runScript } from '../src/load/load-dump.ts';
import { createScriptReader } from '../src/load/script-reader.ts';

const TABLE = 'create table t (a text);\n';

/** Runs a dump against a server that accepts everything. Returns what the server received. */
async function received(dump: string) {
  const queries: string[] = [];
  const connection = new EventEmitter();
  const query = (statement: string | { text: string }) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    queries.push(text);
    if (typeof statement === 'string') {
      for (const _ of text.split('\n')) connection.emit('commandComplete');
      return Promise.resolve();
    }
    let data = '';
    const target = new Writable({
      write: (chunk: Buffer, _encoding, done) => done(void (data += chunk.toString())),
    });
    return Object.defineProperty(target, 'rowCount', { get: () => data.split('\n').length - 1 });
  };
  const source = (async function* () {
    yield Buffer.from(dump);
  })();
  const client = { query, connection } as unknown as Client;
  await runScript({
    reader: createScriptReader(source),
    client,
    schema: 'restored',
    describe: (error) => error,
  });
  return queries.slice(2);
}

const insert = (text: string | number) => `insert into t values ('${text}');\n`;
const count = (query: string) => query.split('insert into').length - 1;

describe('running a dump', () => {
  it('sends INSERT statements in batches of hundreds, and everything in the order of the dump', async () => {
    const rows = Array.from({ length: 1_200 }, (_, index) => insert(index)).join('');
    const queries = await received(
      `${TABLE}${rows}create table u (a text);\n${insert('x')}copy t from stdin;\n\\.\n${insert('y')}`,
    );
    expect(queries.map((query) => (count(query) > 0 ? count(query) : query.slice(0, 12)))).toEqual([
      'create table',
      500,
      500,
      200,
      'create table',
      1,
      'copy "restor',
      1,
      'commit',
    ]);
  });

  it('sends smaller batches of long statements', async () => {
    const queries = await received(`${TABLE}${insert('x'.repeat(100_000)).repeat(5)}`);
    expect(queries.map(count)).toEqual([0, 3, 2, 0]);
  });
});
