import { createFaultyProxy, createTestDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
import { Client } from 'pg';
import { checkLockers, withWritersOut } from '../src/databases/lock-writers.ts';

const SHARE_LOCKS = `select waitstart::text as since from pg_locks
  where mode = 'ShareLock' and database = (select oid from pg_database where datname = current_database())`;
const LONG_RETRY = { tryMs: 50, pauseMs: 10, timeoutMs: 60_000, idleMs: 60_000 };
const SHORT_RETRY = { ...LONG_RETRY, timeoutMs: 300 };

let live: TestDatabase;
let fresh: TestDatabase;
let writer: Client;
beforeAll(async () => {
  [live, fresh] = await Promise.all([createTestDatabase('writers_live'), createTestDatabase('writers_fresh')]);
  for (const { query } of [live, fresh]) await query('create table tasks (id int); create table other (id int)');
});
afterAll(() => Promise.all([live.drop(), fresh.drop()]));
beforeEach(async () => {
  writer = new Client({ connectionString: live.url });
  await writer.connect();
});
afterEach(() => writer.end());

const whileOut = (retry: typeof LONG_RETRY) =>
  withWritersOut(new Map([['tasks', { live: live.url, fresh: fresh.url }]]), async () => 'done', retry);

describe('keeping writers out', () => {
  it('waits for them over several tries, and holds up no others for longer than one', async () => {
    await writer.query('begin; insert into tasks values (1)');
    const waits = new Set<string>();
    const running = whileOut(LONG_RETRY);
    await eventually(async () => {
      const [waiting] = await live.query(`${SHARE_LOCKS} and not granted`);
      if (waiting) waits.add(String(waiting.since));
      expect(waits.size).toBeGreaterThan(1);
    });
    await writer.query('insert into other values (1)');
    await writer.query('commit');
    expect(await running).toBe('done');
  });

  it('gives up in the end, and lets everybody else go on', async () => {
    await writer.query('begin; insert into tasks values (1)');
    const begin = performance.now();
    await expect(whileOut(SHORT_RETRY)).rejects.toMatchObject({
      name: 'WritersBusyError',
      cause: { code: '55P03' },
    });
    expect(performance.now() - begin).toBeGreaterThan(SHORT_RETRY.timeoutMs);
    await eventually(async () => expect(await live.query(SHARE_LOCKS)).toEqual([]));
  });

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
      { ...LONG_RETRY, idleMs: 400 },
    );
    await expect(stopped).rejects.toThrow();
    expect(outcomes).toEqual(['55P03', 'written']);
    await proxy.close();
  });

  it('does not wait when something else is wrong', async () => {
    const begin = performance.now();
    const lost = whileOut({ ...LONG_RETRY, tryMs: -1 }); // no such time
    await expect(lost).rejects.toMatchObject({ code: '22023' });
    expect(performance.now() - begin).toBeLessThan(30_000);
  });
});
