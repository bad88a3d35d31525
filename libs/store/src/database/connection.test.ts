import { createTestDatabase } from '@taskmesh/testing';
import { connect, databaseOf } from './connection.ts';
import { openDatabase } from '../../tests/open-database.ts';

const MEANINGS = `select current_setting('search_path') as path, '2026-11-28 10:00:00.5+02'::timestamptz::text as time,
  '1 day 2:00'::interval::text as span, '\\x01'::bytea::text as bytes, 0.1::float8 + 0.2::float8 as sum, '{NULL}'::text[] as list,
  null = null as nothing, current_setting('transaction_isolation') as isolation,
  current_setting('statement_timeout') <> '1ms' as lasts, current_setting('tcp_keepalives_idle') as silence,
  current_setting('synchronous_commit') as commit`;
const HOSTILE = `search_path = app; datestyle = 'SQL, DMY'; intervalstyle = sql_standard; bytea_output = escape;
  timezone = 'Asia/Kolkata'; extra_float_digits = -15; array_nulls = off; transform_null_equals = on; client_encoding = LATIN1;
  lock_timeout = '1ms'; tcp_keepalives_idle = 3000; default_transaction_isolation = serializable; idle_session_timeout = '2s'; exit_on_error = on;
  synchronous_commit = off; jit = on; enable_seqscan = on`;
const store = await createTestDatabase('connection');
for (const setting of HOSTILE.split(';')) await store.query(`alter database ${databaseOf(store.url)} set ${setting}`);
const database = await openDatabase(store.url, { name: 'connection', poolSize: 2 });
afterAll(() => database.close());

const EXPECTED = {
  ...{ path: 'public', time: '2026-11-28 08:00:00.5+00', span: '1 day 02:00:00', bytes: '\\x01' },
  ...{ sum: 0.30000000000000004, list: expect.anything(), nothing: null, isolation: 'read committed', lasts: true },
  silence: '10',
  commit: 'on',
};

it.each([
  ['of the pool', async () => (await database.pool.query(MEANINGS)).rows[0]],
  ['of the ORM', () => database.retry(async (em) => (await em.getConnection().execute(MEANINGS))[0])],
  [
    'of a session',
    async () => {
      const session = await database.openSession();
      return (await session.run({ name: 'meanings', text: MEANINGS }).finally(session.close))[0];
    },
  ],
  [
    'by itself',
    async () => {
      const client = await connect({ url: store.url, name: 'test' });
      return (await client.query(MEANINGS).finally(() => client.end())).rows[0];
    },
  ],
])('a connection %s behaves as with the defaults of PostgreSQL', async (_which, read) => {
  expect(await read()).toMatchObject(EXPECTED);
});

it('statements are never compiled, and prefer indexes', async () => {
  const text = `select current_setting('jit') as jit, current_setting('enable_seqscan') as scans`;
  expect((await database.pool.query(text)).rows).toEqual([{ jit: 'off', scans: 'off' }]);
});

it.each([
  ['local', {}, 'local'],
  ['remote_apply', {}, 'remote_apply'],
  ['local', { synchronous_commit: 'off' }, 'off'],
])('where an operator set %s and a session %j, commits wait for: %s', async (set, settings, commit) => {
  const url = `${store.url}?options=-c%20synchronous_commit%3D${set}`;
  const client = await connect({ url, name: 'test', settings });
  expect((await client.query(MEANINGS).finally(() => client.end())).rows[0]).toMatchObject({ commit });
});

describe('a failed statement', () => {
  beforeAll(() =>
    store.query('create table public.things (id int primary key)').then(() => database.run('write', INSERT, [])),
  );
  const INSERT = { name: 'insert', text: 'insert into things values (1)' };

  it.each([
    ['for a constraint', INSERT, { code: '23505' }],
    [
      'because it is cancelled',
      { name: 'cancel', text: `select set_config('statement_timeout', '20', true), pg_sleep(60)` },
      { code: 'SERVICE_UNAVAILABLE' },
    ],
    [
      'because it does not get a lock',
      { name: 'lock', text: 'select id from things for update nowait' },
      { code: 'SERVICE_UNAVAILABLE' },
    ],
  ])('%s leaves its connection in the pool', async (_why, statement, error) => {
    const holder = await connect({ url: store.url, name: 'holder' });
    await holder.query('begin; select id from things for update');
    const backends = () =>
      store.query(`select pid from pg_stat_activity where application_name = 'taskmesh-connection' order by pid`);
    const before = await backends();
    await expect(database.run('write', statement, [])).rejects.toMatchObject(error);
    expect([database.pool.totalCount, await backends()]).toEqual([before.length, before]);
    await holder.end();
  });
});
