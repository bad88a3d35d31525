import { openSession, type Database } from '@taskmesh/database';
import { createLog } from '@taskmesh/service';
import { createFaultyProxy, createTestDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
import { openLockSession } from '@taskmesh/change-log';
import { createTasksDatabase } from '../src/database.ts';
import { openLease, type Lease } from '../src/relay/lease.repository.ts';

const log = createLog({ service: 'tasks', level: 'silent' });
let store: TestDatabase;
let database: Database;
const leases: Lease[] = [];

beforeAll(async () => {
  store = await createTestDatabase('lease');
  database = await createTasksDatabase({ url: store.url, log });
  await database.migrate();
});
afterEach(async () => {
  for (const lease of leases.splice(0)) await lease.end();
});
afterAll(async () => {
  await database.close();
  await store.drop();
});

async function open(onNews = () => undefined as void): Promise<Lease> {
  const lease = await openLease(database, { onNews, monotonicMs: () => performance.now() });
  leases.push(lease);
  return lease;
}

it('holds each part for one instance, and gives all back at its end', async () => {
  const [one, other] = [await open(), await open()];
  await one.claim();
  await other.claim();
  expect([one.heldParts(), other.heldParts()]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], []]);
  await one.end();
  await eventually(async () => {
    await other.claim();
    expect(other.heldParts()).toHaveLength(8);
  });
});

it('brings news from one instance to the others', async () => {
  let heard = 0;
  await open(() => void heard++);
  const teller = await open();
  await teller.wakeOthers();
  await eventually(() => expect(heard).toBe(1));
});

it('tells that it is lost when the server ends its session, and nobody publishes under it any more', async () => {
  const lease = await open();
  await lease.claim();
  await store.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskmesh-tasks-session'`,
  );
  await eventually(() => expect([lease.lost.aborted, lease.isSafe()]).toEqual([true, false]));
  await expect(lease.read(10)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it('loses its parts within seconds when it is frozen in the middle of an answer that fills all buffers', async () => {
  const { hostname: host, port } = new URL(store.url);
  const proxy = await createFaultyProxy({ host, port: Number(port) });
  const url = new URL(store.url);
  [url.hostname, url.port] = [proxy.host, String(proxy.port)];
  const frozen = await openLockSession(
    { openSession: (options) => openSession({ url: url.href, name: 'frozen', timeoutMs: 60_000, ...options }) },
    { monotonicMs: () => performance.now() },
  );
  const [LOCK_CLASS, LOCK] = [1, 2];
  expect(await frozen.claim(LOCK_CLASS, [LOCK])).toEqual([LOCK]);
  const text = `select repeat('x', 1000000) from generate_series(1, 1000)`;
  const answer = frozen.run({ name: 'large', text }).catch(() => undefined);
  const isSending = async () => {
    const [row] = await store.query(
      `select wait_event = 'ClientWrite' as yes from pg_stat_activity where application_name = 'frozen'`,
    );
    return row?.yes === true;
  };
  await eventually(async () => expect(await isSending()).toBe(true), { everyMs: 1 });
  proxy.strand(); // as the kernel keeps the connection of a process that is stopped
  try {
    await eventually(
      async () => {
        const [row] = await store.query('select pg_try_advisory_lock($1, $2) as ours', [LOCK_CLASS, LOCK]);
        expect(row?.ours).toBe(true);
      },
      { timeoutMs: 40_000, everyMs: 500 },
    );
  } finally {
    await proxy.close();
    await answer;
    await frozen.close();
  }
}, 60_000);
