import { createProxyFor, createTestDatabase, eventually, type FaultyProxy } from '@taskmesh/testing';
import { Pool } from 'pg';
import { watchConnections } from './watch-connections.ts';

/** Much longer than the pauses of a busy machine, which do not count as a silent server. */
const SILENCE_MS = 2_000;
let network: FaultyProxy;
let pool: Pool;

const store = await createTestDatabase('watch_connections');
beforeEach(async () => {
  const { proxy, url } = await createProxyFor(store.url);
  network = proxy;
  pool = new Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 2_000 });
  pool.on('error', () => undefined);
  watchConnections(pool, { silenceMs: SILENCE_MS, spanOf: () => ({ name: 'SQL' }), observe: () => undefined });
});
afterEach(() => pool.end());

const checkedOut = async () => (await pool.connect()).on('error', () => undefined);
const one = async () => (await pool.query<{ one: number }>('select 1 as one')).rows;

it('also closes a connection that is checked out, and all its statements fail', async () => {
  const client = await checkedOut();
  network.strand();
  const outcomes = await Promise.allSettled([client.query('select 1'), client.query('select 2')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  client.release(true);
  expect(await one()).toEqual([{ one: 1 }]);
});

it('discards a connection whose begin fails', async () => {
  const client = await checkedOut();
  await network.cut();
  await expect(client.query('begin')).rejects.toThrow();
  await network.restore();
  await eventually(() => expect(pool.totalCount).toBe(0));
  expect(await one()).toEqual([{ one: 1 }]);
});
