import { createTestDatabase } from '@taskmesh/testing';
import { Pool } from 'pg';
import { runPrepared } from './prepared-query.ts';
let pool: Pool;

const store = await createTestDatabase('prepared_query');
beforeEach(() => {
  pool = new Pool({ connectionString: store.url, max: 1 });
  pool.on('error', () => undefined);
});
afterEach(() => pool.end());

const run = (text: string, values: unknown[] = []) => runPrepared(pool, { name: text.slice(0, 60), text }, values);

const EVERY_TYPE = `select $1::int as int, $2::bigint as bigint, $3::text as text, $4::boolean as boolean,
  $5::timestamptz as at, $6::text[] as texts, $7::jsonb as json, $8::bytea as bytes, null as nothing`;
const EPOCH = new Date(0);
const VALUES: unknown[][] = [
  [7, '9007199254740993', 'Größe, "q" \\', true, EPOCH, ['a,b', '{"}', ''], { deep: [1, null] }, Buffer.of(0, 255)],
  [-1, 0, '', false, '2026-02-03T04:05:06.789123Z', [], null, Buffer.alloc(0)],
  [null, undefined, null, null, null, null, null, null],
];

it('reads and writes values like the driver, the first time and later', async () => {
  const driver = new Pool({ connectionString: store.url, max: 1 });
  for (const values of [...VALUES, ...VALUES])
    expect(await run(EVERY_TYPE, values)).toEqual((await driver.query(EVERY_TYPE, values)).rows);
  await driver.end();
});

it('returns all rows, no rows, and nothing for a statement without columns', async () => {
  const upTo = 'select n from generate_series(1, $1::int) as n';
  for (const count of [0, 3, 2_000]) expect(await run(upTo, [count])).toHaveLength(count);
  await run('create table if not exists kept (n int)');
  for (const n of [1, 2]) expect(await run('insert into kept values ($1)', [n])).toEqual([]);
  expect(await run('select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
});

it('does not mix up statements that follow each other on one connection', async () => {
  const many = Array.from({ length: 40 }, (_, i) => i);
  const answers = await Promise.all(many.map((i) => run(`select $1::int as c${i % 4}, 'x' as d${i % 3}`, [i])));
  expect(answers).toEqual(many.map((i) => [{ [`c${i % 4}`]: i, [`d${i % 3}`]: 'x' }]));
});

it.each([
  ['PostgreSQL cannot read a value', 'select $1::int as n', 'one', { code: '22P02' }],
  ['a statement fails while it runs', 'select 1 / $1::int as n', 0, { code: '22012' }],
  ['a statement is invalid', 'selec $1', 1, { code: '42601' }],
])('reports that %s, and runs the next statement', async (_, text, value, error) => {
  await expect(run(text, [value])).rejects.toMatchObject(error);
  await expect(run(text, [value])).rejects.toMatchObject(error);
  expect(await run('select $1::int as n', [1])).toEqual([{ n: 1 }]);
});

it('sends nothing if a value cannot be serialised', async () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  await expect(run('select $1::jsonb as json', [circular])).rejects.toThrow('circular');
  expect(await run('select $1::jsonb as json', [{ a: 1 }])).toEqual([{ json: { a: 1 } }]);
});

it('fails for a statement whose columns have changed, and succeeds on another connection', async () => {
  await run('create table changing (a int)');
  await run('insert into changing values (1)');
  expect(await run('select * from changing')).toEqual([{ a: 1 }]);
  await run('alter table changing add column b text default $$new$$');
  await expect(run('select * from changing')).rejects.toMatchObject({ routine: 'RevalidateCachedQuery' });
  expect(await run('select * from changing')).toEqual([{ a: 1, b: 'new' }]);
});
