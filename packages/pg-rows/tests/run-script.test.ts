import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { DatabaseError, type Client } from 'pg';
import { runScript } from '../src/load/load-dump.ts';
import { createScriptReader } from '../src/load/script-reader.ts';

const TABLE = 'create table t (a text);\n';
const CHUNK_BYTES = 64 * 1024;

/** Runs a dump against a server that takes everything but what `refuses` is in; returns what it received. */
async function run(dump: string, refuses = 'nothing of that kind') {
  const queries: string[] = [];
  const progress: number[] = [];
  const connection = new EventEmitter();
  const refusal = () => Object.assign(new DatabaseError('secret', 0, 'error'), { code: '23505' });
  const query = (statement: string | { text: string }) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    queries.push(text);
    if (typeof statement === 'string') {
      for (const line of text.split('\n')) {
        if (line.includes(refuses)) return Promise.reject(refusal());
        connection.emit('commandComplete');
      }
      return Promise.resolve();
    }
    let data = '';
    const target = new Writable({
      write: (chunk: Buffer, _encoding, done) => done(void (data += chunk.toString())),
      final: (done) => done(text.includes(refuses) ? refusal() : null),
    });
    return Object.defineProperty(target, 'rowCount', { get: () => data.split('\n').length - 1 });
  };
  const bytes = Buffer.from(dump);
  const source = (async function* () {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
  })();
  const client = { query, connection } as unknown as Client;
  const running = runScript({
    reader: createScriptReader(source),
    client,
    schema: 'restored',
    describe: (error) => Object.assign(new Error('refused'), { code: (error as DatabaseError).code }),
    onProgress: (read) => progress.push(read),
  });
  const outcome = await running.catch((error: unknown) => error);
  return { outcome, queries: queries.slice(2), progress };
}

const insert = (text: string | number) => `insert into t values ('${text}');\n`;
const count = (query: string) => query.split('insert into').length - 1;

describe('a dump that is run', () => {
  it('reports how much it was: statements, rows of data, bytes', async () => {
    const dump = `${TABLE}copy t from stdin;\n1\n2\n\\.\n${insert(3)}copy t from stdin;\n4\n\\.\ncopy app.t from stdin;\n5\n\\.\n`;
    const { outcome, progress } = await run(dump);
    expect(outcome).toMatchObject({ statements: 5, copiedRows: 3, bytes: dump.length });
    expect(progress.at(-1)).toBe(dump.length);
  });

  it('reports how far it has come also within data, of those that are passed over, too', async () => {
    for (const table of ['t', 'app.t']) {
      const { progress } = await run(`${TABLE}copy ${table} from stdin;\n${'1\n'.repeat(200_000)}\\.\n`);
      expect(new Set(progress).size).toBeGreaterThan(5);
    }
  });

  it('sends rows that are inserted together, by the hundreds, and everything in the order of the dump', async () => {
    const rows = Array.from({ length: 1_200 }, (_, index) => insert(index)).join('');
    const { queries } = await run(
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

  it('sends fewer of them together when they are long', async () => {
    const { queries } = await run(`${TABLE}${insert('x'.repeat(100_000)).repeat(5)}`);
    expect(queries.map(count)).toEqual([0, 3, 2, 0]);
  });

  it.each([
    ['a table', 'create table', 1],
    ['rows', 'insert into', 3],
    ['data', 'copy', 5],
  ])(
    'ends at %s that PostgreSQL refuses, names the line and no value, and commits nothing',
    async (_what, refuses, line) => {
      const { outcome, queries } = await run(`${TABLE}\n${insert(1)}${insert(2)}copy t from stdin;\n3\n\\.\n`, refuses);
      expect(outcome).toMatchObject({
        name: 'LoadError',
        message: expect.stringMatching(new RegExp(`^Line ${line}: (?!.*secret)`)),
        cause: { code: '23505' },
      });
      expect(queries).not.toContain('commit');
    },
  );

  it('names the line of the refused INSERT, not that of the first one sent with it', async () => {
    const rows = Array.from({ length: 700 }, (_, index) => insert(index)).join('');
    for (const [refused, line] of [
      [0, 2],
      [251, 253],
      [499, 501],
      [650, 652],
    ]) {
      const { outcome } = await run(`${TABLE}${rows}`, `'${refused}'`);
      expect(outcome).toMatchObject({ message: expect.stringMatching(new RegExp(`^Line ${line}: `)) });
    }
  });

  it('ends at what it cannot read, which says its line itself', async () => {
    const { outcome, queries } = await run(`${TABLE}copy t from stdin;\n1\n`);
    expect(outcome).toMatchObject({ name: 'LoadError', message: 'The dump ends within the data of line 2.' });
    expect(queries).not.toContain('commit');
  });
});
