import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import type { Pool } from 'pg';
import { openDatabase } from '../../tests/open-database.ts';
import type { Database } from './database.ts';
import { measurePool } from './observe.ts';

const DURATION = 'db_client_operation_duration_seconds';

describe('the statements of a database', () => {
  let store: TestDatabase;
  let database: Database;
  let registry: Registry;

  beforeAll(async () => {
    store = await createTestDatabase('statement_metrics');
  });
  beforeEach(async () => {
    registry = new Registry();
    database = await openDatabase(store.url, { name: 'tasks' });
    database.measure(registry);
  });
  afterEach(() => database.close());

  const figures = async (of: RegExp) => {
    const lines = (await registry.metrics()).split('\n').filter((line) => of.test(line));
    return Object.fromEntries(
      lines.map((line) => line.split(' ')).map(([series = '', value]) => [series, Number(value)]),
    );
  };

  it('are counted by operation, whether they come from the pool, the ORM or a connection', async () => {
    await database.run('read', { name: 'one', text: ' select 1 as one' }, []);
    await database.retry((em) => em.getConnection().execute('select 2'));
    const client = await database.pool.connect();
    await client.query('begin');
    await client.query({ text: 'set local work_mem = 64' });
    await client.query('commit');
    client.release();
    expect(await figures(/_count{/)).toMatchObject({
      [`${DURATION}_count{pool="tasks",db_operation_name="SELECT"}`]: 2,
      [`${DURATION}_count{pool="tasks",db_operation_name="BEGIN"}`]: 1,
      [`${DURATION}_count{pool="tasks",db_operation_name="SQL"}`]: 1,
      [`${DURATION}_count{pool="tasks",db_operation_name="COMMIT"}`]: 1,
    });
  });

  it('are measured until they end, and failed ones separately by reason', async () => {
    await database.run('read', { name: 'slow', text: 'select pg_sleep($1)' }, [0.06]);
    await expect(database.run('read', { name: 'wrong', text: 'select 1 / $1::int' }, [0])).rejects.toThrow(
      'division by zero',
    );
    const select = `pool="tasks",db_operation_name="SELECT"`;
    expect(await figures(/_(count|bucket){/)).toMatchObject({
      [`${DURATION}_bucket{le="0.05",${select}}`]: 0,
      [`${DURATION}_bucket{le="30",${select}}`]: 1,
      [`${DURATION}_count{${select}}`]: 1,
      [`${DURATION}_count{${select},error_type="22012"}`]: 1,
    });
  });

  it('are counted separately from those of another database in the process, without their texts', async () => {
    const other = await openDatabase(store.url, { name: 'auth' });
    other.measure(registry);
    await database.run('read', { name: 'named', text: `select 'of ours'` }, []);
    await other.run('read', { name: 'named', text: `select 'of ours'` }, []);
    await other.close();
    const counts = await figures(new RegExp(`^${DURATION}_count`));
    expect(Object.keys(counts)).toEqual([
      `${DURATION}_count{pool="tasks",db_operation_name="SELECT"}`,
      `${DURATION}_count{pool="auth",db_operation_name="SELECT"}`,
    ]);
    expect(await registry.metrics()).not.toMatch(/of ours|named/);
  });
});

const poolWith = (counts: { totalCount: number; idleCount: number; waitingCount: number }) => counts as Pool; // the only fields read

it('reports how full the pools of a process are, each by its name', async () => {
  const registry = new Registry();
  measurePool(registry, 'tasks', poolWith({ totalCount: 10, idleCount: 3, waitingCount: 5 }));
  measurePool(registry, 'auth', poolWith({ totalCount: 1, idleCount: 1, waitingCount: 0 }));
  const text = await registry.metrics();
  expect(text.split('\n').filter((line) => line.startsWith('db_'))).toEqual([
    'db_client_connection_count{pool="tasks",state="idle"} 3',
    'db_client_connection_count{pool="tasks",state="used"} 7',
    'db_client_connection_count{pool="auth",state="idle"} 1',
    'db_client_connection_count{pool="auth",state="used"} 0',
    'db_client_connection_pending_requests{pool="tasks"} 5',
    'db_client_connection_pending_requests{pool="auth"} 0',
  ]);
});
