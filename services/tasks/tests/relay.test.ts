import { createMemoryEventLog, PublishError, type EventLog, type LogRecord } from '@taskmesh/messaging';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { followed, replayed, storedTasks } from './_history.ts';
import { createTestClock, startTasks, type TestTasks, type TestUser } from './_tasks.ts';

const HASTE = { firstPauseMs: 1, lastPauseMs: 5 };

/** The same sequence of numbers from 0 to 1 in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Creates, changes and deletes at random; what was acknowledged is in the store. */
async function writeAtRandom(users: TestUser[], writes: number, random: () => number): Promise<void> {
  const tasks: { user: TestUser; id: string }[] = [];
  const pick = <Item>(items: Item[]): Item => items[Math.floor(random() * items.length)] as Item; // never of an empty list
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let n = 0; n < writes / 8; n++) {
        const dice = random();
        if (dice < 0.4 || tasks.length === 0) {
          const user = pick(users);
          tasks.push({ user, id: (await user.create({ title: `task ${n}`, category: 'c' })).id });
        } else {
          const { user, id } = pick(tasks);
          const write =
            dice < 0.9 ? user.update(id, { completed: dice < 0.6, description: `${dice}` }) : user.remove(id);
          // Somebody else may have deleted it meanwhile.
          await write.catch((error: Error) => expect(error.message).toBe('NOT_FOUND'));
        }
      }
    }),
  );
}

/** Everything that is committed was published in order, without a gap, and says how the tasks came to be as they are. */
async function expectWholeHistory(service: TestTasks, users: TestUser[]): Promise<void> {
  await service.delivered();
  const histories = followed(service.published);
  for (const { id } of users) {
    const changes = histories.get(id) ?? [];
    const { heads } = await service.tasks.internal.heads([id]);
    expect(changes.map(({ sequence }) => sequence)).toEqual(Array.from({ length: heads[id] ?? 0 }, (_, n) => n + 1));
    expect((await service.tasks.internal.changesAfter(id, 0, 1_000)).changes).toEqual(changes);
    expect(replayed(changes)).toEqual(await storedTasks(service.database, id));
  }
}

const usersOf = (count: number, ...services: TestTasks[]) =>
  Array.from({ length: count }, (_, n) => {
    const { id } = (services[0] as TestTasks).user(`01890000-0000-7000-8000-${String(n).padStart(12, '0')}`);
    return services.map((service) => service.user(id));
  });

/** An event log of which a test says what happens to what is published. */
function faultyLog(
  fault: (publish: () => Promise<void>, records: Parameters<EventLog['publish']>[1]) => Promise<void>,
): EventLog {
  const inner = createMemoryEventLog();
  return { ...inner, publish: (topic, records) => fault(() => inner.publish(topic, records), records) };
}

/** An event log that takes every record that has no reason against it, and names the others. */
function choosyLog(reasonAgainst: (record: LogRecord) => Error | undefined): EventLog {
  const inner = createMemoryEventLog();
  return {
    ...inner,
    async publish(topic, records) {
      const reasons = new Map<LogRecord, unknown>();
      const stopped = new Set<string>();
      for (const record of records) {
        const reason = stopped.has(record.key) ? new Error('behind one that was not taken') : reasonAgainst(record);
        if (!reason) continue;
        reasons.set(record, reason);
        stopped.add(record.key);
      }
      const taken = records.filter((record) => !reasons.has(record));
      if (taken.length > 0) await inner.publish(topic, taken);
      if (reasons.size > 0) throw new PublishError(reasons);
    },
  };
}

/** As the broker says it. */
const refusal = (type: string) => Object.assign(new Error(type.toLowerCase()), { name: 'KafkaJSProtocolError', type });

it('publishes what many writers do at once: gapless, in order, and the replay is the final table', async () => {
  const service = await startTasks({ name: 'relay_order' });
  try {
    const users = usersOf(6, service).flat();
    await writeAtRandom(users, 400, seeded(1));
    await expectWholeHistory(service, users);
    expect(followed(service.published).size).toBe(6);
  } finally {
    await service.stop();
  }
});

it('keeps order and loses nothing over an event log that refuses, takes half, and denies what it took', async () => {
  const random = seeded(2);
  const inner = createMemoryEventLog();
  const eventLog: EventLog = {
    ...inner,
    async publish(topic, records) {
      const dice = random();
      if (dice < 0.25) throw new Error('refused');
      if (dice < 0.5) {
        await inner.publish(topic, records.slice(0, Math.ceil(records.length / 2)));
        throw new Error('torn');
      }
      await inner.publish(topic, records);
      if (dice < 0.7) throw new Error('denied');
    },
  };
  const service = await startTasks({ name: 'relay_faults', eventLog, relay: HASTE });
  try {
    const users = usersOf(5, service).flat();
    await writeAtRandom(users, 200, seeded(3));
    await expectWholeHistory(service, users);
    const different = new Set(service.published.map(({ id }) => id));
    expect(service.published.length).toBeGreaterThan(different.size); // the denied ones came twice
  } finally {
    await service.stop();
  }
});

it('keeps order and loses nothing with two instances whose connections are ended again and again', async () => {
  const one = await startTasks({ name: 'relay_two' });
  const other = await one.another();
  const holders = new Set<unknown>();
  let killing = true;
  const killer = (async () => {
    while (killing) {
      const ended = await one.database.query(
        `select pid, pg_terminate_backend(pid) from pg_locks
         where locktype = 'advisory' and objsubid = 2
           and database = (select oid from pg_database where datname = current_database()) group by pid`,
      );
      for (const { pid } of ended) holders.add(pid);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  })();
  try {
    const users = usersOf(6, one, other);
    const random = seeded(4);
    for (let round = 0; round < 3; round++)
      await Promise.all([
        writeAtRandom(
          users.map(([user]) => user as TestUser),
          100,
          random,
        ),
        writeAtRandom(
          users.map(([, user]) => user as TestUser),
          100,
          random,
        ),
      ]);
    await eventually(() => holders.size >= 3);
    killing = false;
    await killer;
    await expectWholeHistory(
      one,
      users.map(([user]) => user as TestUser),
    );
  } finally {
    killing = false;
    await other.stop();
    await one.stop();
  }
});

it('hands its parts over when an instance stops', async () => {
  const one = await startTasks({ name: 'relay_handover' });
  const other = await one.another();
  const partsOf = async ({ tasks }: TestTasks) => (await tasks.ready()).checks?.relayParts;
  try {
    await eventually(async () => expect(await partsOf(one)).toBe(8));
    expect(await partsOf(other)).toBe(0);
    await one.tasks.stop();
    await eventually(async () => expect(await partsOf(other)).toBe(8));
    await other.user().create({ title: 'afterwards' });
    await other.delivered();
    expect(other.published.map(({ task }) => task.title)).toEqual(['afterwards']);
  } finally {
    await other.stop();
    await one.stop();
  }
});

it('starts and writes without an event log, and catches up in order when it comes', async () => {
  let isAway = true;
  const inner = createMemoryEventLog();
  const topics: string[] = [];
  const eventLog: EventLog = {
    ...inner,
    async ensureTopic(topic, { partitions }) {
      if (isAway) throw new Error('away');
      topics.push(`${topic} ${partitions}`);
    },
    async publish(topic, records) {
      if (isAway) throw new Error('away');
      await inner.publish(topic, records);
    },
  };
  const told: string[] = [];
  const write = (line: string) => told.push((JSON.parse(line) as { msg: string }).msg);
  const log = createLog({ service: 'tasks', level: 'info', destination: { write } });
  const service = await startTasks({ name: 'relay_away', eventLog, relay: HASTE, log });
  try {
    const users = usersOf(3, service).flat();
    await writeAtRandom(users, 200, seeded(5));
    await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(false));
    expect((await service.tasks.ready()).ok).toBe(true);
    expect(service.published).toEqual([]);
    isAway = false;
    await expectWholeHistory(service, users);
    await eventually(() => expect([...new Set(topics)]).toEqual(['taskmesh.tasks.changes 8']));
    expect((await service.tasks.ready()).checks?.eventLog).toBe(true);
    expect(await service.database.query('select * from dead_letters')).toEqual([]);
    expect(service.published).toHaveLength(new Set(service.published.map(({ id }) => id)).size);
    expect(told.filter((text) => /everything/.test(text))).toEqual([
      'cannot publish everything; trying again until it works',
      'publishing everything again',
    ]);
  } finally {
    await service.stop();
  }
});

it('puts a record aside that the event log refuses for good; the others and the feed itself go on', async () => {
  const metrics = new Registry();
  const eventLog = choosyLog(({ value }) => (value.includes('poison') ? refusal('MESSAGE_TOO_LARGE') : undefined));
  const service = await startTasks({ name: 'relay_poison', eventLog, metrics, relay: HASTE });
  try {
    const [poisoner, neighbour] = usersOf(2, service).flat() as [TestUser, TestUser];
    await poisoner.create({ title: 'before' });
    const { id } = await poisoner.create({ title: 'poison' });
    await poisoner.update(id, { title: 'cured' }); // its former image is in the record, too
    await poisoner.create({ title: 'behind it' });
    await neighbour.create({ title: 'flows' });
    await service.delivered();
    expect(await service.database.query('select sequence::int, reason from dead_letters order by sequence')).toEqual([
      { sequence: 2, reason: 'KafkaJSProtocolError: message_too_large' },
      { sequence: 3, reason: 'KafkaJSProtocolError: message_too_large' },
    ]);
    const titlesOf = ({ id: owner }: TestUser) =>
      service.published.filter(({ ownerId }) => ownerId === owner).map(({ task }) => task.title);
    expect([titlesOf(poisoner), titlesOf(neighbour)]).toEqual([['before', 'behind it'], ['flows']]);
    const { changes } = await service.tasks.internal.changesAfter(poisoner.id, 0, 10);
    expect(changes.map(({ task }) => task.title)).toEqual(['before', 'poison', 'cured', 'behind it']);
    expect(await metrics.metrics()).toContain('outbox_dead_letters_total 2');
  } finally {
    await service.stop();
  }
});

it('keeps the order of an owner who had to wait, also behind a record that is refused for good', async () => {
  let isOut = true;
  const eventLog = choosyLog(({ value }) => {
    if (isOut) return refusal('LEADER_NOT_AVAILABLE');
    return value.includes('poison') ? refusal('MESSAGE_TOO_LARGE') : undefined;
  });
  const service = await startTasks({ name: 'relay_behind', eventLog, relay: HASTE });
  try {
    const user = service.user();
    // More than is tried at once of one who waited.
    for (let n = 1; n <= 150; n++) await user.create({ title: n % 40 === 0 ? 'poison' : `task ${n}` });
    await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(false));
    isOut = false;
    await service.delivered();
    expect(service.published.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 150 }, (_, n) => n + 1).filter((n) => n % 40 !== 0),
    );
  } finally {
    await service.stop();
  }
});

it('never takes an outage for a bad record, whatever the log calls it: its owner waits, and nobody else', async () => {
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
  try {
    const users = usersOf(3, service).flat();
    clients.push(...users.map(({ id }) => id));
    for (const user of users) await user.create({ title: 'waits or not' });
    await eventually(() => expect(tries).toBeGreaterThan(60));
    expect(service.published.map(({ ownerId }) => ownerId).toSorted()).toEqual(clients.slice(1));
    expect((await service.tasks.ready()).checks?.eventLog).toBe(false);
    isOut = false;
    await expectWholeHistory(service, users);
    expect(await service.database.query('select * from dead_letters')).toEqual([]);
    expect(service.published).toHaveLength(3);
    await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(true));
  } finally {
    await service.stop();
  }
});

it('publishes for everybody else at full rate while a part of the log takes nothing, and then all of that in order', async () => {
  let isOut = true;
  const partition = (key: string) => Number.parseInt(key.slice(-1), 16) % 8;
  const eventLog = choosyLog(({ key }) =>
    isOut && partition(key) === 3 ? refusal('LEADER_NOT_AVAILABLE') : undefined,
  );
  const service = await startTasks({ name: 'relay_partition', eventLog });
  const fill = (from: number, to: number, last: string) =>
    service.database.query(
      `with owner as (select n, ('01890000-0000-7000-8000-00000000' || lpad(to_hex(n), 3, '0') || $3)::uuid as id
                      from generate_series($1::int, $2::int) n),
         counted as (insert into feeds as f (owner_id, sequence) select id, 1 from owner
                     on conflict (owner_id) do update set sequence = f.sequence + 1 returning owner_id, sequence)
       insert into changes (part, owner_id, sequence, kind, task, occurred_at)
       select 5, owner_id, sequence, 'INSERT', json_build_object('id', owner_id, 'user_id', owner_id, 'title', 'x', 'description', null,
         'completed', false, 'due_date', null, 'category', null, 'priority', 'low', 'created_at', date_trunc('second', now()),
         'updated_at', date_trunc('second', now()), 'version', 1), date_trunc('second', now())
       from counted order by owner_id`,
      [from, to, last],
    );
  const isHeld = ({ ownerId }: { ownerId: string }) => partition(ownerId) === 3;
  try {
    for (let round = 0; round < 3; round++) await fill(1, 700, '3'); // more than is read at once
    await fill(1, 67, '4');
    await eventually(() => expect(service.published).toHaveLength(67), { timeoutMs: 5_000 });
    for (let round = 2; round <= 20; round++) {
      await fill(1, 67, '4');
      await service.database.query(`notify taskmesh_task_changes`);
      const begun = performance.now();
      await eventually(() => expect(service.published).toHaveLength(67 * round), { everyMs: 1 });
      if (round > 10) expect(performance.now() - begun).toBeLessThan(1_000);
    }
    expect(service.published.some(isHeld)).toBe(false);
    isOut = false;
    await service.delivered();
    const held = service.published.filter(isHeld);
    expect(held).toHaveLength(2_100);
    for (const changes of Map.groupBy(held, ({ ownerId }) => ownerId).values())
      expect(changes.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(await service.database.query('select * from dead_letters')).toEqual([]);
  } finally {
    await service.stop();
  }
});

it('never takes an absent event log for a bad record', async () => {
  let calls = 0;
  let isAway = true;
  const eventLog = faultyLog(async (publish) => {
    calls++;
    if (isAway) throw refusal('MESSAGE_TOO_LARGE'); // of everything at once it says nothing about any
    await publish();
  });
  const service = await startTasks({ name: 'relay_blame', eventLog, relay: HASTE });
  try {
    const users = usersOf(5, service).flat();
    for (const user of users) await user.create({ title: 'waits' });
    await eventually(() => calls > 60);
    isAway = false;
    await expectWholeHistory(service, users);
    expect(await service.database.query('select * from dead_letters')).toEqual([]);
  } finally {
    await service.stop();
  }
});

it('tells how far it is behind', async () => {
  const clock = createTestClock(new Date(Date.now() - 3_600_000).toISOString());
  const metrics = new Registry();
  let isAway = true;
  const eventLog = faultyLog(async (publish) => {
    if (isAway) throw new Error('away');
    await publish();
  });
  const service = await startTasks({ name: 'relay_metrics', eventLog, clock, metrics, relay: HASTE });
  const valueOf = async (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(await metrics.metrics())?.[1]);
  try {
    const user = service.user();
    for (let n = 0; n < 3; n++) await user.create({ title: 'pending' });
    await eventually(async () => expect(await valueOf('outbox_publish_failures_total')).toBeGreaterThan(0));
    expect(await valueOf('outbox_pending_messages')).toBe(3);
    expect(await valueOf('outbox_oldest_pending_age_seconds')).toBeGreaterThan(3_599);
    isAway = false;
    await service.tasks.processAll();
    expect(await valueOf('outbox_pending_messages')).toBe(0);
    expect(await valueOf('outbox_oldest_pending_age_seconds')).toBe(0);
    await eventually(async () => expect(await valueOf('outbox_published_total')).toBe(3));
    expect(await valueOf('outbox_publish_lag_seconds_count')).toBe(3);
    clock.set(new Date().toISOString());
    await user.create({ title: 'at once' });
    await service.tasks.processAll();
    await eventually(async () => expect(await valueOf('outbox_publish_lag_seconds_count')).toBe(4));
    expect(await valueOf('outbox_publish_lag_seconds_bucket\\{le="10"\\}')).toBe(4);
    expect(await valueOf('dead_letters\\{source="relay"\\}')).toBe(0);
  } finally {
    await service.stop();
  }
});
