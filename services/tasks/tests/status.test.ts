import { createMemoryEventLog, type EventLog } from '@taskmesh/event-log';
import { systemClock } from '@taskmesh/service';
import { createProxyFor, eventually } from '@taskmesh/testing';
import { migrations } from '../migrations/index.ts';
import { createTasks, readTasksConfig } from '../src/index.ts';
import { createAccountLog } from './support/account-log.ts';
import { createStore, silent } from './support/store.ts';
let isLogUp: () => Promise<boolean> = async () => true;

const database = await createStore('status');
const { proxy, url } = await createProxyFor(database.url);
const eventLog: EventLog = { ...createMemoryEventLog(), isUp: () => isLogUp() };
const { accounts } = createAccountLog();
const tasks = await createTasks(readTasksConfig({ POSTGRES_URL: url }), {
  clock: systemClock,
  log: silent,
  eventLog,
  accounts,
});
await tasks.start();
afterAll(async () => {
  await proxy.restore().catch(() => undefined);
  await tasks.stop();
  await proxy.close();
});

const UP = {
  version: expect.any(String),
  startedAt: expect.stringMatching(/Z$/),
  store: { isUp: true, schema: migrations.at(-1)?.name, missing: [], unknown: [] },
  feed: { epoch: 1, pending: 0, oldestPendingAgeSeconds: 0, deadLetters: { relay: 0, gateway: 0 } },
  eventLog: { system: 'memory', isUp: true },
};

describe('the status that tasks reports to operators', () => {
  it('contains the state of its store and the feed', async () => {
    expect(await tasks.operators.status()).toEqual(UP);
    await tasks.internal.reportUnreadable({ key: 'unknown', value: 'garbage', reason: 'no JSON' });
    expect((await tasks.operators.status()).feed?.deadLetters).toEqual({ relay: 0, gateway: 1 });
    expect(await tasks.deadLetters.discardDeadLetters({ all: true })).toEqual({ discarded: 1 });
  });

  it('is returned in time when the database does not respond, shares its queries, and recovers afterwards', async () => {
    proxy.freeze();
    const before = proxy.connections();
    const begun = performance.now();
    const seen = await Promise.all(Array.from({ length: 20 }, () => tasks.operators.status()));
    expect(performance.now() - begun).toBeLessThan(3_000); // a single statement would wait longer
    for (const status of seen)
      expect(status).toEqual({ ...UP, store: { isUp: false, schema: null, missing: [], unknown: [] }, feed: null });
    expect(proxy.connections() - before).toBeLessThan(15); // not twenty requests of four statements
    proxy.thaw();
    await eventually(async () => expect(await tasks.operators.status()).toEqual(UP));
  });

  it('reports an unavailable database', async () => {
    await proxy.cut();
    await eventually(async () =>
      expect(await tasks.operators.status()).toMatchObject({
        ...{ store: { isUp: false }, feed: null },
        relayFailingSeconds: expect.any(Number),
      }),
    );
    await proxy.restore();
    await eventually(async () => expect(await tasks.operators.status()).toEqual(UP), { timeoutMs: 20_000 });
  });

  it.each([
    ['is away', () => Promise.resolve(false)],
    ['fails', () => Promise.reject(new Error('broken'))],
    ['stays silent', () => new Promise<boolean>(() => undefined)],
  ])('reports that the event log is down when it %s', async (_how, isUp) => {
    isLogUp = isUp;
    expect((await tasks.operators.status()).eventLog.isUp).toBe(false);
    isLogUp = async () => true;
  });

  it('lists migrations of a newer version', async () => {
    await database.query(`insert into mikro_orm_migrations (name) values ('0099-later')`);
    expect((await tasks.operators.status()).store).toEqual({
      ...{ isUp: true, schema: '0099-later', missing: [], unknown: ['0099-later'] },
    });
    await database.query(`delete from mikro_orm_migrations where name = '0099-later'`);
  });
});
