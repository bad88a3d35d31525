import { countWaiting, createTestClock, eventually, whileLocked, connectClient } from '@taskmesh/testing';
import { startTasks, codeOf } from './support/running-tasks.ts';
import { createHash } from 'node:crypto';

const clock = createTestClock('2026-11-20T10:00:00.000Z');
const service = await startTasks({ name: 'write', clock });

it('updating a task increases updated_at even if the clock stands still or goes back', async () => {
  const user = service.user();
  clock.set('2026-11-20T10:00:00.000Z');
  const { id } = await user.create({ title: 'timeless' });
  expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.001Z');
  clock.set('2026-11-20T09:00:00.000Z');
  expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.002Z');
});

it('updating a task keeps updated_at within the year 9999, and then increases only the version', async () => {
  const user = service.user();
  const { id } = await user.create({ title: 'of the last moment' });
  const last = '9999-12-31T23:59:59.999Z';
  await service.query('update tasks set updated_at = $2, created_at = $2, due_date = $2 where id = $1', [id, last]);
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

it('deleting and updating a task concurrently happens in either order, deletes it once, and never tears the feed', async () => {
  const user = service.user();
  const { id } = await user.create({ title: 'fought over' });
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 10 }, () => user.update(id, {})),
    ...Array.from({ length: 4 }, () => user.remove(id)),
    ...Array.from({ length: 10 }, () => user.update(id, {})),
  ]);
  const updates = outcomes.filter(({ status }, n) => (n < 10 || n >= 14) && status === 'fulfilled').length;
  expect(outcomes.slice(10, 14).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 100);
  expect(changes.map(({ kind }) => kind)).toEqual(['INSERT', ...Array(updates).fill('UPDATE'), 'DELETE']);
});

it('a version that the caller expects lets exactly one of many concurrent updates succeed', async () => {
  const user = service.user();
  const { id } = await user.create({ title: 'raced' });
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => user.update(id, {}, 1)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
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
  const tasks = { totalCount: 1, edges: [{ node: { title: 'of the owner' } }] };
  expect(await owner.request(ENTITIES, { of })).toEqual({
    _entities: [{ id: owner.id, tasks, taskStatistics: { total: 1 } }],
  });
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

const CREATE =
  'mutation ($input: CreateTaskInput!, $key: String) { createTask(input: $input, idempotencyKey: $key) { id } }';

it('creates once, and returns the task as it was created to a retry', async () => {
  const user = service.user();
  const input = { title: 'once', dueDate: '0001-01-01T00:00:00.000Z', priority: 'HIGH' };
  const created = await user.create(input, 'key');
  await user.update(created.id, { title: 'changed since', dueDate: null });
  clock.advance(60_000);
  expect(await user.create(input, 'key')).toEqual(created);
  await user.remove(created.id);
  expect(await user.create(input, 'key')).toEqual(created);
  expect((await user.request('{ taskStatistics { total } }')).taskStatistics.total).toBe(0);
  expect((await service.tasks.internal.heads([user.id])).heads[user.id]).toBe(3);
});

it('treats another spelling of an input as the same input', async () => {
  const user = service.user();
  const created = await user.create({ title: 'spelled', dueDate: '2026-12-01T12:00:00+02:00' }, 'key');
  const defaults = { description: null, completed: false, priority: 'MEDIUM' };
  const again = await user.create({ title: 'spelled', dueDate: '2026-12-01T10:00:00.000Z', ...defaults }, 'key');
  expect(again.id).toBe(created.id);
});

it('hashes an input like the first release, so that a retry works across an upgrade', async () => {
  const user = service.user();
  await user.create({ title: 'hashed', priority: 'HIGH' }, 'key');
  const fields = JSON.stringify(['hashed', null, null, null, 'high', false]);
  const [stored] = await service.query('select input_hash as hash from idempotency_keys where owner_id = $1', [
    user.id,
  ]);
  expect(stored?.hash).toBe(createHash('sha256').update(fields).digest('base64url'));
});

it('forgets a key after 24 hours', async () => {
  const user = service.user();
  const first = await user.create({ title: 'daily' }, 'key');
  clock.advance(24 * 3_600_000 - 1);
  expect((await user.create({ title: 'daily' }, 'key')).id).toBe(first.id);
  clock.advance(1);
  const second = await user.create({ title: 'daily, but another' }, 'key');
  expect(second.id).not.toBe(first.id);
  expect((await user.create({ title: 'daily, but another' }, 'key')).id).toBe(second.id);
  clock.advance(24 * 3_600_000);
  await service.tasks.housekeep();
  expect(await service.query('select 1 from idempotency_keys where owner_id = $1', [user.id])).toEqual([]);
});

it("forgets no key that is valid by the database's clock, even if its own clock is ahead", async () => {
  const ahead = createTestClock(new Date().toISOString());
  const other = await startTasks({ name: 'clock_ahead', clock: ahead });
  const user = other.user();
  const first = await user.create({ title: 'once' }, 'key');
  ahead.advance(25 * 3_600_000);
  await other.tasks.housekeep();
  expect((await user.create({ title: 'once' }, 'key')).id).toBe(first.id);
});

it('keeps the newest 10,000 keys of an owner', async () => {
  const [busy, other] = [service.user(), service.user()];
  await other.create({ title: 'the first' }, 'key');
  await service.query(
    `insert into idempotency_keys (owner_id, key, input_hash, task, expires_at)
     select $1, 'key ' || n, '', '{}', $2::timestamptz + n * interval '1 millisecond' from generate_series(1, 14500) n`,
    [busy.id, new Date(clock.now() + 24 * 3_600_000 - 60_000).toISOString()],
  );
  await service.tasks.housekeep();
  const left = `select count(*)::int, min(substr(key, 5)::int) from idempotency_keys where owner_id = $1`;
  expect(await service.query(left, [busy.id])).toEqual([{ count: 10_000, min: 4_501 }]);
  const others = await service.query('select key from idempotency_keys where owner_id = $1', [other.id]);
  expect(others).toEqual([{ key: 'key' }]);
  await service.query('delete from idempotency_keys');
});

it('responds with CONFLICT at once while the first request is still running', async () => {
  const user = service.user();
  await user.create({ title: 'has a feed' });
  const lock = 'select 1 from feeds where owner_id = $1 for update';
  const create = () => user.create({ title: 'slow' }, 'key');
  const { id } = await whileLocked(service.database, [lock, user.id], create, {
    async meanwhile() {
      const { errors } = await user.send(CREATE, { input: { title: 'slow' }, key: 'key' });
      expect(errors?.[0]?.extensions).toEqual({ code: 'CONFLICT', retryAfterSeconds: 1 });
    },
  });
  expect((await create()).id).toBe(id);
});

it('responds to a retry while another one is running', async () => {
  const user = service.user();
  const first = await user.create({ title: 'once' }, 'key');
  const other = await connectClient(service.database.url);
  await other.query(`select pg_advisory_lock(hashtextextended('key', hashtextextended($1, 0)))`, [user.id]);
  expect((await user.create({ title: 'once' }, 'key')).id).toBe(first.id);
  clock.advance(24 * 3_600_000);
  expect(codeOf(await user.send(CREATE, { input: { title: 'once' }, key: 'key' }))).toBe('CONFLICT');
});
