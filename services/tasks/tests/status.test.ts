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
const deps = { clock: systemClock, log: silent, eventLog, accounts };
const tasks = await createTasks(readTasksConfig({ POSTGRES_URL: url }), deps);
await tasks.start();
afterAll(() => tasks.stop());

const UP = {
  version: expect.any(String),
  startedAt: expect.stringMatching(/Z$/),
  store: { isUp: true, schema: migrations.at(-1)?.name, missing: [], unknown: [] },
  feed: { epoch: 1, pending: 0, oldestPendingAgeSeconds: 0, deadLetters: { relay: 0, gateway: 0 } },
  eventLog: { system: 'memory', isUp: true },
};

const DOWN = { ...UP, store: { isUp: false, schema: null, missing: [], unknown: [] }, feed: null };

it('the status is returned in time when the database does not respond, shares its queries, and recovers afterwards', async () => {
  expect(await tasks.operators.status()).toEqual(UP);
  proxy.freeze();
  const before = proxy.connections();
  const begun = performance.now();
  const seen = await Promise.all(Array.from({ length: 20 }, () => tasks.operators.status()));
  expect(performance.now() - begun).toBeLessThan(3_000); // a single statement would wait longer
  for (const status of seen) expect(status).toEqual(DOWN);
  expect(proxy.connections() - before).toBeLessThan(15); // not twenty requests of four statements
  proxy.thaw();
  await eventually(async () => expect(await tasks.operators.status()).toEqual(UP));
});

it.each<[string, () => Promise<boolean>]>([
  ['is away', async () => false],
  ['fails', () => Promise.reject(new Error('broken'))],
  ['stays silent', () => new Promise(() => undefined)],
])('the status says that the event log is down when it %s', async (_how, isUp) => {
  isLogUp = isUp;
  expect((await tasks.operators.status()).eventLog.isUp).toBe(false);
  isLogUp = async () => true;
});
