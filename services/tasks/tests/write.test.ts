import { countWaiting, createTestClock, eventually, whileLocked } from '@taskmesh/testing';
import { startTasks } from './support/running-tasks.ts';

const clock = createTestClock('2026-11-20T10:00:00.000Z');
const service = await startTasks({ name: 'write', clock });

describe('updating a task', () => {
  it('increases updated_at even if the clock stands still or goes back', async () => {
    const user = service.user();
    clock.set('2026-11-20T10:00:00.000Z');
    const { id } = await user.create({ title: 'timeless' });
    expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.001Z');
    clock.set('2026-11-20T09:00:00.000Z');
    expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.002Z');
  });

  it('keeps updated_at within the year 9999, and then increases only the version', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'of the last moment' });
    const last = '9999-12-31T23:59:59.999Z';
    await service.database.query('update tasks set updated_at = $2, created_at = $2, due_date = $2 where id = $1', [
      id,
      last,
    ]);
    for (const version of [2, 3]) expect(await user.update(id, {})).toMatchObject({ version, updatedAt: last });
    expect(await user.update(id, { dueDate: last })).toMatchObject({ dueDate: last, version: 4 });
    for (const field of ['UPDATED_AT', 'CREATED_AT', 'DUE_DATE']) {
      const list = `query ($after: String) { tasks(first: 1, after: $after, orderBy: { field: ${field}, direction: ASC }) {
        edges { cursor node { id } } } }`;
      const { tasks } = await user.request(list);
      expect(tasks.edges).toMatchObject([{ node: { id } }]);
      expect((await user.request(list, { after: tasks.edges[0].cursor })).tasks.edges).toEqual([]);
    }
    await user.remove(id);
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 10);
    expect(changes.map(({ occurredAt }) => occurredAt).slice(1)).toEqual([last, last, last, last]);
  });
});

it('deleting and updating a task concurrently happens in either order, and never tears the feed', async () => {
  const user = service.user();
  const { id } = await user.create({ title: 'fought over' });
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 10 }, () => user.update(id, {})),
    user.remove(id),
    ...Array.from({ length: 10 }, () => user.update(id, {})),
  ]);
  const updates = outcomes.filter((outcome, n) => n !== 10 && outcome.status === 'fulfilled').length;
  expect(outcomes[10]?.status).toBe('fulfilled');
  const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 100);
  expect(changes.map(({ kind }) => kind)).toEqual(['INSERT', ...Array(updates).fill('UPDATE'), 'DELETE']);
});

describe('a version that the caller expects', () => {
  it('lets exactly one of many concurrent updates succeed', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'raced' });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => user.update(id, {}, 1)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

const ENTITIES = `query ($of: [_Any!]!) { _entities(representations: $of) {
  ... on Task { id title } ... on User { id tasks { totalCount edges { node { title } } } taskStatistics { total } }
} }`;

it('resolves references to tasks for their owner only', async () => {
  const owner = service.user();
  const { id } = await owner.create({ title: 'referenced' });
  const of = [
    { __typename: 'Task', id },
    { __typename: 'Task', id: 'nonsense' },
  ];
  expect((await owner.request(ENTITIES, { of }))._entities).toEqual([{ id, title: 'referenced' }, null]);
  expect((await service.user().request(ENTITIES, { of }))._entities).toEqual([null, null]);
});

it('contributes tasks and statistics to the caller, but not to other users', async () => {
  const owner = service.user();
  await owner.create({ title: 'of the owner' });
  const of = [{ __typename: 'User', id: owner.id }];
  expect((await owner.request(ENTITIES, { of }))._entities).toEqual([
    {
      id: owner.id,
      tasks: { totalCount: 1, edges: [{ node: { title: 'of the owner' } }] },
      taskStatistics: { total: 1 },
    },
  ]);
  expect(await service.user().send(ENTITIES, { of })).toEqual({ data: { _entities: [null] } });
});

it.each([
  'taskStatistics { total }',
  'tasks(offset: 1001) { totalCount }',
  'tasks(filter: { completed: true }) { totalCount }',
])('reads all tasks of an owner once at a time: %s', async (field) => {
  const [ada, bob] = [service.user(), service.user()];
  const read = () => Promise.all(Array.from({ length: 4 }, () => ada.request(`{ ${field} }`)));
  let short: Promise<unknown> | undefined;
  await whileLocked(service.database, ['lock table tasks'], read, {
    async meanwhile() {
      short = bob.request('{ tasks { totalCount } }');
      await eventually(async () => expect(await countWaiting(service.database)).toBeGreaterThan(1));
      expect(await countWaiting(service.database)).toBe(2);
    },
  });
  await short;
});

it("serves other owners while one owner's writes wait for a lock", async () => {
  const [ada, bob] = [service.user(), service.user()];
  await ada.create({ title: 'first' });
  const lock = 'select from feeds where owner_id = $1 for update';
  const write = () => Promise.allSettled(Array.from({ length: 14 }, () => ada.create({ title: 'waits' })));
  const writes = await whileLocked(service.database, [lock, ada.id], write, {
    waiting: 4,
    async meanwhile() {
      const { id } = await bob.create({ title: 'not delayed' });
      await bob.update(id, { completed: true });
      expect((await bob.request('{ tasks { totalCount } }')).tasks.totalCount).toBe(1);
      expect(await countWaiting(service.database)).toBe(4);
    },
  });
  // On a slow machine, the first writes may have timed out.
  const created = writes.filter(({ status }) => status === 'fulfilled').length;
  expect(created).toBeGreaterThan(0);
  expect((await ada.request('{ tasks { totalCount } }')).tasks.totalCount).toBe(1 + created);
});
