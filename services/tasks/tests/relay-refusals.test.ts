import { eventually } from '@taskmesh/testing';
import { choosyLog, expectWholeHistory, HASTE, refusal, usersOf } from './support/relay.ts';
import { startTasks } from './support/running-tasks.ts';

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
  await service.database.query(`update changes set task = '{}' where sequence = 30`); // cannot be encoded
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
  expect(await service.database.query(unpublished)).toEqual([{ count: 2 }]);
  const triedBefore = tries;
  await eventually(() => expect(tries).toBeGreaterThan(triedBefore + 20)); // each preceded by a read of new changes
  isOut = false;
  const sequences = () => service.published.map(({ sequence }) => sequence);
  // Without the replay's notification, the relay would find it only after up to 30 s.
  await eventually(() => expect(sequences().toSorted()).toEqual([1, 2, 3]), { timeoutMs: 10_000 });
});

it('never mistakes an outage for a bad record, whatever the error: only the owner of the record waits', async () => {
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
  expect(await service.database.query('select * from dead_letters')).toEqual([]);
  expect(service.published).toHaveLength(3);
  await eventually(async () => expect((await service.tasks.ready()).checks?.eventLog).toBe(true));
});

it('publishes for other owners at full rate while a partition accepts nothing, and then catches up in order', async () => {
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
  for (let round = 0; round < 3; round++) await fill(1, 700, '3'); // more than one read returns
  await fill(1, 67, '4');
  await eventually(() => expect(service.published).toHaveLength(67));
  const tookMs: number[] = [];
  for (let round = 2; round <= 20; round++) {
    await fill(1, 67, '4');
    await service.database.query(`notify taskmesh_task_changes`);
    const begun = performance.now();
    await eventually(() => expect(service.published).toHaveLength(67 * round), { everyMs: 1 });
    if (round > 10) tookMs.push(performance.now() - begun);
  }
  expect(tookMs.toSorted((a, b) => a - b)[5]).toBeLessThan(1_000);
  expect(service.published.some(isHeld)).toBe(false);
  isOut = false;
  await service.delivered();
  const held = service.published.filter(isHeld);
  expect(held).toHaveLength(2_100);
  for (const changes of Map.groupBy(held, ({ ownerId }) => ownerId).values())
    expect(changes.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(await service.database.query('select * from dead_letters')).toEqual([]);
}, 120_000);
