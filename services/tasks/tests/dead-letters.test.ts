import { TASK_CHANGES_TOPIC, type TaskChanged } from '@taskmesh/contracts';
import { createKafkaEventLog, type EventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually, requiredAddress } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { partOf } from '../src/feed/change.ts';
import { startTasks, type TestTasks, type TestUser } from './support/running-tasks.ts';

const silent = createLog({ service: 'tasks', level: 'silent' });
/** More than a broker accepts in one record. */
const TOO_LONG = 1_200_000;

describe('dead letters, with a real Kafka', () => {
  const brokers = requiredAddress('KAFKA_BROKERS').split(',');
  const kafka = createKafkaEventLog({ brokers, clientId: 'dead-letters', log: silent });
  const topic = `${TASK_CHANGES_TOPIC}.${randomUUID()}`;
  /** Maps the real topic's name to a topic of this test. */
  const eventLog: EventLog = {
    ensureTopic: (_topic, options) => kafka.ensureTopic(topic, options),
    publish: (_topic, records) => kafka.publish(topic, records),
    read: (_topic, onRecord) => kafka.read(topic, onRecord),
    isUp: () => kafka.isUp(topic),
    close: kafka.close,
  };
  const metrics = new Registry();
  let service: TestTasks;
  beforeAll(async () => {
    atEnd(() => eventLog.close());
    service = await startTasks({ name: 'dead_letters', eventLog, metrics });
  }, 180_000);
  afterEach(async () => void (await letters().discardDeadLetters({ all: true })));

  const letters = () => service.tasks.deadLetters;
  const publishedOf = ({ id }: TestUser): TaskChanged[] => service.published.filter(({ ownerId }) => ownerId === id);
  const setDescription = (user: TestUser, sequence: number, length: number) =>
    service.query(
      `update changes set task = (task::jsonb || jsonb_build_object('description', repeat('x', $3)))::json
       where owner_id = $1 and sequence = $2`,
      [user.id, sequence, length],
    );
  /** Commits a change that no broker accepts: a copy of the owner's last one with a very long description. */
  const commitHuge = async (user: TestUser) => {
    const [row] = await service.query(
      `with next as (update feeds set sequence = sequence + 1 where owner_id = $1 returning sequence)
       insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
       select $2, $1, next.sequence, 'UPDATE',
         (task::jsonb || jsonb_build_object('description', repeat('x', $3), 'version', (task->>'version')::int + 1))::json,
         task, now()
       from next, changes c where c.owner_id = $1 and c.sequence = next.sequence - 1
       returning sequence::int`,
      [user.id, partOf(user.id), TOO_LONG],
    );
    return Number(row?.sequence);
  };

  it('dead-letters a change at once that the broker will never accept, without delaying others', async () => {
    const [poisoner, neighbour] = [service.user(randomUUID()), service.user(randomUUID())];
    await poisoner.create({ title: 'before' });
    const begun = performance.now();
    expect(await commitHuge(poisoner)).toBe(2);
    await neighbour.create({ title: 'flows' });
    await poisoner.create({ title: 'behind it' });
    await eventually(() => {
      expect(publishedOf(neighbour).map(({ task }) => task.title)).toEqual(['flows']);
      expect(publishedOf(poisoner).map(({ sequence }) => sequence)).toEqual([1, 3]);
    });
    expect(performance.now() - begun).toBeLessThan(10_000); // waiting for an unavailable broker would take longer
    expect(await letters().deadLetters({})).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        source: 'relay',
        changeId: expect.stringMatching(/^\d+$/),
        ownerId: poisoner.id,
        sequence: '2',
        reason: expect.stringMatching(/max message size/),
        record: null,
        diedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        canReplay: true,
      },
    ]);
    // Readers of the feed still get it.
    const after = async (sequence: number) =>
      (await service.tasks.internal.changesAfter(poisoner.id, sequence, 10)).changes.map((each) => each.sequence);
    expect([await after(0), await after(2)]).toEqual([[1, 2], [3]]); // the large one ends a page
    const shown = await metrics.metrics();
    expect(shown).toMatch(/^taskmesh_dead_letters{source="relay"} 1$/m);
    expect(shown).toMatch(/^taskmesh_outbox_dead_letters_total 1$/m);
  });

  it('replays a dead letter on request; it comes back while the broker still rejects it', async () => {
    const user = service.user(randomUUID());
    await user.create({ title: 'before' });
    const sequence = await commitHuge(user);
    const dead = () => letters().deadLetters({});
    await eventually(async () => expect(await dead()).toHaveLength(1));

    expect(await letters().replayDeadLetters({ all: true })).toEqual({ replayed: 1 });
    await eventually(async () => expect(await dead()).toMatchObject([{ sequence: String(sequence) }]));

    await setDescription(user, sequence, 10);
    const [{ id } = { id: '' }] = await dead();
    expect(await letters().replayDeadLetters({ ids: ['999999999', id] })).toEqual({ replayed: 1 });
    await eventually(() => expect(publishedOf(user).map((change) => change.sequence)).toEqual([1, 2]));
    expect(await dead()).toEqual([]);
  });

  it.each([
    ['nothing', {}],
    ['both', { ids: [], all: true }],
    ['numbers', { ids: [1] }],
    ['text', { ids: ['1; drop table'] }],
  ])('rejects a replay of %s', async (_what, body) => {
    await expect(letters().replayDeadLetters(body)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});
