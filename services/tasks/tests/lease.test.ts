import type { Database } from '@taskmesh/database';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
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
