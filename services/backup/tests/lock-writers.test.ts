import { createFaultyProxy, createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { Client } from 'pg';
import { checkLockers, withWritersOut } from '../src/databases/lock-writers.ts';

const IDLE_MS = 400;

let live: TestDatabase;
let fresh: TestDatabase;
let writer: Client;
beforeAll(async () => {
  [live, fresh] = await Promise.all([createTestDatabase('writers_live'), createTestDatabase('writers_fresh')]);
  for (const { query } of [live, fresh]) await query('create table tasks (id int)');
});
afterAll(() => Promise.all([live.drop(), fresh.drop()]));
beforeEach(async () => {
  writer = new Client({ connectionString: live.url });
  await writer.connect();
});
afterEach(() => writer.end());

describe('keeping writers out', () => {
  it('ends by itself when nothing is heard of us, which is noticed', async () => {
    const { hostname, port } = new URL(live.url);
    const proxy = await createFaultyProxy({ host: hostname, port: Number(port) });
    const through = Object.assign(new URL(live.url), { host: `${proxy.host}:${proxy.port}` }).href;
    await writer.query(`set lock_timeout = '1s'`);
    const write = () => writer.query('insert into tasks values (2)').then(() => 'written', (error: { code?: string }) => error.code); // prettier-ignore
    const outcomes: unknown[] = [];
    const stopped = withWritersOut(
      new Map([['tasks', { live: through, fresh: fresh.url }]]),
      async (lockers) => {
        outcomes.push(await write());
        proxy.freeze();
        await writer.query(`set lock_timeout = '10s'`);
        outcomes.push(await write());
        proxy.thaw();
        await checkLockers(lockers);
      },
      IDLE_MS,
    );
    await expect(stopped).rejects.toThrow();
    expect(outcomes).toEqual(['55P03', 'written']);
    await proxy.close();
  });
});
