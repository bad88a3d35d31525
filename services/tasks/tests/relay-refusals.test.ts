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
