import { createTestDatabase } from '@taskmesh/testing';
import { connect, databaseOf, type Settings } from './connection.ts';
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

const EXPECTED = {
  ...{ path: 'public', time: '2026-11-28 08:00:00.5+00', span: '1 day 02:00:00', bytes: '\\x01' },
  ...{ sum: 0.30000000000000004, list: expect.anything(), nothing: null, isolation: 'read committed', lasts: true },
  silence: '10',
  commit: 'on',
};

async function inSession() {
  const session = await database.openSession();
  return (await session.run({ name: 'meanings', text: MEANINGS }).finally(session.close))[0];
}

async function byItself(url: string, settings?: Settings) {
  const client = await connect({ url, name: 'test', settings });
  return (await client.query(MEANINGS).finally(() => client.end())).rows[0];
}

it.each([
  ['of the pool', async () => (await database.pool.query(MEANINGS)).rows[0]],
  ['of the ORM', () => database.retry(async (em) => (await em.getConnection().execute(MEANINGS))[0])],
  ['of a session', inSession],
  ['by itself', () => byItself(store.url)],
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
  expect(await byItself(`${store.url}?options=-c%20synchronous_commit%3D${set}`, settings)).toMatchObject({ commit });
});

await database.pool.query('create table things (id int primary key); insert into things values (1)');

it.each([
  ['for a constraint', 'insert into things values (1)', '23505'],
  ['because of its time', `select set_config('statement_timeout', '20', true), pg_sleep(60)`, 'SERVICE_UNAVAILABLE'],
  ['because it does not get a lock', 'select id from things for update nowait', 'SERVICE_UNAVAILABLE'],
])('a statement that fails %s leaves its connection in the pool', async (why, text, code) => {
  const holder = await connect({ url: store.url, name: 'holder' });
  await holder.query('begin; select id from things for update');
  const backends = () =>
    store.query(`select pid from pg_stat_activity where application_name = 'taskmesh-connection' order by pid`);
  const before = await backends();
  await expect(database.run('write', { name: why, text }, [])).rejects.toMatchObject({ code });
  expect([database.pool.totalCount, await backends()]).toEqual([before.length, before]);
  await holder.end();
});
