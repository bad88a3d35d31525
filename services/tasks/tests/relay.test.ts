import { jest } from '@jest/globals';
import { createMemoryEventLog, type EventLog } from '@taskmesh/event-log';
import { createRecordingLog } from '@taskmesh/service/testing';
import { atEnd, createRandom, createTestClock, eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { expectWholeHistory, faultyLog, HASTE, usersOf, writeAtRandom, choosyLog, refusal } from './support/relay.ts';
import { startTasks, type TestTasks, type TestUser } from './support/running-tasks.ts';

it('keeps order and loses nothing with two instances whose connections are killed repeatedly', async () => {
  const one = await startTasks({ name: 'relay_two' });
  const other = await one.another();
  const holders = new Set<unknown>();
  let killing = true;
  const killer = (async () => {
    while (killing) {
      const ended = await one.query(
        `select pid, pg_terminate_backend(pid) from pg_locks
         where locktype = 'advisory' and objsubid = 2
           and database = (select oid from pg_database where datname = current_database()) group by pid`,
      );
      for (const { pid } of ended) holders.add(pid);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  })();
  atEnd(() => (killing = false));
  const users = usersOf(6, one, other);
  const [ofOne, ofOther] = [0, 1].map((n) => users.map((both) => both[n] as TestUser)) as [TestUser[], TestUser[]];
  const random = createRandom(4);
  for (let round = 0; round < 3; round++)
    await Promise.all([writeAtRandom(ofOne, 100, random), writeAtRandom(ofOther, 100, random)]);
  await eventually(() => expect(holders.size).toBeGreaterThanOrEqual(3));
  killing = false;
  await killer;
  await expectWholeHistory(one, ofOne);
});

it('passes its parts to another instance when it stops', async () => {
  const one = await startTasks({ name: 'relay_handover' });
  const other = await one.another();
  const partsOf = async ({ tasks }: TestTasks) => (await tasks.ready()).checks?.relayParts;
  await eventually(async () => expect(await partsOf(one)).toBe(8));
  expect(await partsOf(other)).toBe(0);
  await one.tasks.stop();
  await eventually(async () => expect(await partsOf(other)).toBe(8));
  await other.user().create({ title: 'afterwards' });
  await other.delivered();
  expect(other.published.map(({ task }) => task.title)).toEqual(['afterwards']);
});

it('passes its parts to another instance when it alone cannot publish', async () => {
  const inner = createMemoryEventLog();
  const failed = Promise.withResolvers<void>();
  const publish = async () => {
    failed.resolve();
    throw new Error('out of reach');
  };
  const { log, lines } = createRecordingLog();
  const one = await startTasks({ name: 'relay_alone', eventLog: { ...inner, publish }, relay: HASTE, log });
  await eventually(async () => expect((await one.tasks.ready()).checks?.relayParts).toBe(8));
  const other = await one.another({ eventLog: inner });
  await one.user().create({ title: 'out of reach' });
  await failed.promise;
  const now = performance.now.bind(performance);
  const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 11_000);
  atEnd(() => later.mockRestore());
  await other.delivered();
  expect(other.published.map(({ task }) => task.title)).toEqual(['out of reach']);
  expect((await one.tasks.ready()).checks?.relayParts).toBe(0);
  expect(lines.map(({ msg }) => msg).filter((text) => /cannot publish/.test(text))).toEqual([
    'cannot publish everything; trying again until it works',
    'cannot publish anything; leaving it to others for a moment',
  ]);
});

it('starts and accepts writes without an event log, and catches up in order when it becomes available', async () => {
  let isAway = true;
  const topics: string[] = [];
  const eventLog: EventLog = {
    ...faultyLog((publish) => (isAway ? Promise.reject(new Error('away')) : publish())),
    async ensureTopic(topic, { partitions }) {
      if (isAway) throw new Error('away');
      topics.push(`${topic} ${partitions}`);
    },
  };
  const { log, lines } = createRecordingLog();
  const service = await startTasks({ name: 'relay_away', eventLog, relay: HASTE, log });
  const users = usersOf(3, service).flat();
  await writeAtRandom(users, 200, createRandom(5));
  await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(false));
  expect((await service.tasks.ready()).ok).toBe(true);
  expect(service.published).toEqual([]);
  isAway = false;
  await expectWholeHistory(service, users);
  await eventually(() => expect([...new Set(topics)]).toEqual(['taskmesh.tasks.changes 8']));
  expect((await service.tasks.ready()).checks?.eventLog).toBe(true);
  expect(await service.query('select * from dead_letters')).toEqual([]);
  expect(lines.filter(({ msg }) => msg === 'publishing everything again')).toHaveLength(1);
  expect(service.published).toHaveLength(new Set(service.published.map(({ id }) => id)).size);
});

it('reports how far it lags behind', async () => {
  const clock = createTestClock(new Date(Date.now() - 3_600_000).toISOString());
  const metrics = new Registry();
  let isAway = true;
  const eventLog = faultyLog((publish) => (isAway ? Promise.reject(new Error('away')) : publish()));
  const service = await startTasks({ name: 'relay_metrics', eventLog, clock, metrics, relay: HASTE });
  const valueOf = async (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(await metrics.metrics())?.[1]);
  const user = service.user();
  for (let n = 0; n < 3; n++) await user.create({ title: 'pending' });
  await eventually(async () => expect(await valueOf('taskmesh_outbox_publish_failures_total')).toBeGreaterThan(0));
  expect(await valueOf('taskmesh_outbox_pending_messages')).toBe(3);
  expect(await valueOf('taskmesh_outbox_oldest_pending_age_seconds')).toBeGreaterThan(3_599);
  isAway = false;
  await service.delivered();
  expect(await valueOf('taskmesh_outbox_pending_messages')).toBe(0);
  expect(await valueOf('taskmesh_outbox_oldest_pending_age_seconds')).toBe(0);
  await eventually(async () => expect(await valueOf('taskmesh_outbox_published_total')).toBe(3));
  expect(await valueOf('taskmesh_outbox_publish_lag_seconds_count')).toBe(3);
  clock.set(new Date().toISOString());
  await user.create({ title: 'at once' });
  await service.delivered();
  await eventually(async () => expect(await valueOf('taskmesh_outbox_publish_lag_seconds_count')).toBe(4));
  expect(await valueOf('taskmesh_outbox_publish_lag_seconds_sum')).toBeLessThan(60);
});

it.each([
  [
    'its store is read-only',
    'alter database STORE set default_transaction_read_only = on',
    'begin read write; alter database STORE reset default_transaction_read_only; commit',
  ],
  [
    'its disk is full',
    `create function full_disk() returns trigger language plpgsql as
       $$begin raise 'no space left on device' using errcode = '53100'; end$$;
     create trigger full_disk before update on changes execute function full_disk()`,
    'drop function full_disk cascade',
  ],
])('does not repeat a backlog while it cannot mark what it has published, because %s', async (_why, begin, end) => {
  let isAway = true;
  const eventLog = faultyLog((publish) => (isAway ? Promise.reject(new Error('away')) : publish()));
  const service = await startTasks({ name: 'relay_unmarked', eventLog });
  const { database, tasks, published } = service;
  const user = service.user();
  for (let n = 0; n < 20; n++) await user.create({ title: `task ${n}` });
  await database.query(begin.replace('STORE', database.name));
  await database.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  isAway = false;
  await eventually(async () => expect((await tasks.operators.status()).relayFailingSeconds).toBeGreaterThan(1));
  const repeated = [...Map.groupBy(published, ({ sequence }) => sequence).values()].filter(({ length }) => length > 2);
  expect(repeated.length).toBeLessThanOrEqual(1);
  await database.query(end.replace('STORE', database.name));
  await expectWholeHistory(service, [user]);
  await eventually(async () => expect((await tasks.operators.status()).relayFailingSeconds).toBeUndefined());
});

it('keeps the order of a blocked owner, even after a permanently rejected record', async () => {
  let isOut = true;
  const eventLog = choosyLog(({ value }) => {
    if (isOut) return refusal('LEADER_NOT_AVAILABLE');
    return value.includes('poison') ? refusal('MESSAGE_TOO_LARGE') : undefined;
  });
  const service = await startTasks({ name: 'relay_behind', eventLog, relay: HASTE });
  const user = service.user();
  // More than the relay tries at once for a blocked owner.
  for (let n = 1; n <= 150; n++) await user.create({ title: n % 40 === 0 ? 'poison' : `task ${n}` });
  await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(false));
  await service.query(`update changes set task = '{}' where sequence = 30`); // cannot be encoded
  isOut = false;
  await service.delivered();
  expect(service.published.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 150 }, (_, n) => n + 1).filter((n) => n % 40 !== 0 && n !== 30),
  );
});

it('publishes a dead letter that is replayed while its owner is blocked as soon as the owner continues', async () => {
  let [isTooLarge, isOut, tries] = [true, false, 0];
  const eventLog = choosyLog(({ value }) => {
    tries++;
    if (isOut) return refusal('LEADER_NOT_AVAILABLE');
    return isTooLarge && value.includes('poison') ? refusal('MESSAGE_TOO_LARGE') : undefined;
  });
  const service = await startTasks({ name: 'relay_replayed', eventLog, relay: HASTE });
  const user = service.user();
  await user.create({ title: 'poison' });
  await user.create({ title: 'before' });
  await service.delivered();
  [isTooLarge, isOut] = [false, true];
  await user.create({ title: 'behind it' });
  await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(false));
  expect(await service.tasks.deadLetters.replayDeadLetters({ all: true })).toEqual({ replayed: 1 });
  const unpublished = 'select count(*)::int as count from changes where published_at is null';
  expect(await service.query(unpublished)).toEqual([{ count: 2 }]);
  const triedBefore = tries;
  await eventually(() => expect(tries).toBeGreaterThan(triedBefore + 20)); // each preceded by a read of new changes
  isOut = false;
  const sequences = () => service.published.map(({ sequence }) => sequence);
  // Without the replay's notification, the relay would find it only after up to 30 s.
  await eventually(() => expect(sequences().toSorted()).toEqual([1, 2, 3]), { timeoutMs: 10_000 });
});

it('never mistakes an outage for a bad record, with any error: only the owner of the record waits', async () => {
  const reasons = [
    ...['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION', 'REQUEST_TIMED_OUT'],
    ...['NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'TOPIC_AUTHORIZATION_FAILED', 'CORRUPT_MESSAGE'],
    ...['KAFKA_STORAGE_ERROR', 'INVALID_TIMESTAMP', 'KAFKAJS_UNKNOWN_ERROR_CODE'],
  ];
  const clients: string[] = [];
  let isOut = true;
  let tries = 0;
  const eventLog = choosyLog(({ key }) =>
    isOut && key === clients[0] ? refusal(reasons[tries++ % reasons.length] ?? '') : undefined,
  );
  const service = await startTasks({ name: 'relay_outage', eventLog, relay: HASTE });
  const users = usersOf(3, service).flat();
  clients.push(...users.map(({ id }) => id));
  for (const user of users) await user.create({ title: 'waits or not' });
  await eventually(() => expect(tries).toBeGreaterThan(60));
  expect(service.published.map(({ ownerId }) => ownerId).toSorted()).toEqual(clients.slice(1));
  expect((await service.tasks.ready()).checks?.eventLog).toBe(false);
  isOut = false;
  await expectWholeHistory(service, users);
  expect(await service.query('select * from dead_letters')).toEqual([]);
  expect(service.published).toHaveLength(3);
  await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(true));
});
