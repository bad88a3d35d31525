import { createRestoredDatabase, eventually, whileLocked } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { restoredRow, RESTORED_TASKS, type RestoredRow } from './support/restored.ts';
import { createAccountLog } from './support/account-log.ts';
import { choosyLog, HASTE, refusal, usersOf } from './support/relay.ts';
import { codeOf, startTasks, type TestUser } from './support/running-tasks.ts';

const MAX_TASKS = 20;

const service = await startTasks({ name: 'task_limit', env: { MAX_TASKS_PER_OWNER: String(MAX_TASKS) } });

const CREATE = `mutation ($key: String) { createTask(input: { title: "one more" }, idempotencyKey: $key) { id } }`;
const create = (user: TestUser, key?: string) => user.send(CREATE, { key });
const totalOf = async (user: TestUser): Promise<number> =>
  (await user.request('{ taskStatistics { total } }')).taskStatistics.total;

const SEQUENCE = 'select sequence::int from feeds where owner_id = $1';
/** Owners whose counter differs from their number of tasks. */
const MISCOUNTED = `
  select owner_id from feeds f where tasks <> (select count(*) from tasks where user_id = owner_id)
  union select user_id from tasks where user_id not in (select owner_id from feeds)`;
const expectCounted = async (database = service.database) => expect(await database.query(MISCOUNTED)).toEqual([]);

async function fill(user: TestUser, count: number): Promise<string[]> {
  return (await Promise.all(Array.from({ length: count }, () => user.create({ title: 'any' })))).map(({ id }) => id);
}

describe('an owner at the task limit', () => {
  it('gets exactly that many tasks with many concurrent creates', async () => {
    const user = service.user();
    const results: Awaited<ReturnType<typeof create>>[] = [];
    const writer = async (name: number) => {
      for (let n = 0; n < 5; n++) results.push(await create(user, n % 2 === 0 ? `${name} ${n}` : undefined));
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
    expect(results.filter(({ errors }) => !errors)).toHaveLength(MAX_TASKS);
    expect(new Set(results.map(codeOf))).toEqual(new Set([undefined, 'CONFLICT']));
    expect(results.find(({ errors }) => errors)?.errors?.[0]?.message).toMatch(/^You have 20 tasks, the most/);
    expect(await totalOf(user)).toBe(MAX_TASKS);
    await expectCounted();
  });

  it('is rejected without an effect: the key stays free, and the feed gets no change; retries, updates and deletions work', async () => {
    const user = service.user();
    const first = await user.create({ title: 'first' }, 'first');
    const [id = ''] = await fill(user, MAX_TASKS - 1);
    expect(codeOf(await create(user, 'later'))).toBe('CONFLICT');
    expect(codeOf(await create(user))).toBe('CONFLICT');
    expect(await user.create({ title: 'first' }, 'first')).toEqual(first);
    expect((await user.update(id, { completed: true })).completed).toBe(true);
    expect(await user.remove(id)).toBe(id);
    expect(codeOf(await create(user, 'later'))).toBeUndefined();
    expect(await service.query(SEQUENCE, [user.id])).toEqual([{ sequence: MAX_TASKS + 3 }]);
    await expectCounted();
  });

  it('claims no key if a concurrent first create leaves no room for the task', async () => {
    const single = await startTasks({ name: 'first_creates', env: { MAX_TASKS_PER_OWNER: '1' } });
    const user = single.user();
    await single.tasks.processDeletions();
    const other = 'insert into feeds (owner_id, sequence, tasks) values ($1, 1, 1)';
    expect(codeOf(await whileLocked(single.database, [other, user.id], () => create(user, 'key')))).toBe('CONFLICT');
    expect(await single.query('select from idempotency_keys')).toEqual([]);
  });
});

it('stays exact during concurrent writes and writes that find nothing', async () => {
  const user = service.user();
  const writer = async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await user.create({ title: 'any' });
      await user.update(id, { completed: true });
      await expect(user.update(id, { title: 'other' }, 1)).rejects.toThrow('PRECONDITION_FAILED');
      if (round % 4 === 0) continue;
      await Promise.allSettled([user.remove(id), user.remove(id)]);
    }
    await service.tasks.housekeep();
  };
  await Promise.all(Array.from({ length: 5 }, writer));
  expect(await totalOf(user)).toBe(10);
  await expectCounted();
});

it('counts the tasks of a restored store, which may be more', async () => {
  const owner = randomUUID();
  const rows: RestoredRow[] = [...Array.from({ length: MAX_TASKS + 1 }, () => ({ user_id: `'${owner}'` })), {}];
  const loaded = await createRestoredDatabase(RESTORED_TASKS + rows.map(restoredRow).join(''));
  await service.tasks.restore.importDatabase(loaded.name);
  await expectCounted(loaded);
  await loaded.query('delete from tasks where user_id <> $1', [owner]);
  await service.tasks.restore.resume(loaded.name);
  await expectCounted(loaded);
});

it('counts the tasks of a store loaded with psql, which has no feeds, when it first reads the account log', async () => {
  const loaded = await startTasks({ name: 'loaded_by_psql', env: { MAX_TASKS_PER_OWNER: String(MAX_TASKS) } });
  const [user, other] = [loaded.user(), loaded.user()];
  await fill(user, MAX_TASKS - 1);
  const [id = ''] = await fill(other, 2);
  await loaded.query('truncate feeds, changes');
  await loaded.query('update account_position set epoch = 0, sequence = 0');
  await create(user);
  await other.remove(id);
  await loaded.tasks.processDeletions();
  await expectCounted(loaded.database);
  expect(codeOf(await create(user))).toBe('CONFLICT');
  expect(await loaded.query(SEQUENCE, [user.id])).toEqual([{ sequence: 1 }]);
});

it('lets owners write once their tasks are counted, while others are still being counted; 0 is no limit', async () => {
  const loaded = await startTasks({ name: 'counted_in_parts', env: { MAX_TASKS_PER_OWNER: '0' } });
  const user = loaded.user();
  const [first, last] = [user.id, 'ffffffff-0000-4000-8000-000000000000'];
  await user.create({ title: 'any' });
  await loaded.query(
    `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       select gen_random_uuid(), case when n < 12000 then $1::uuid else $2::uuid end, 'any', false, 'low', now(), now()
       from generate_series(1, 12000) n`,
    [first, last],
  );
  await loaded.query('truncate feeds, changes');
  await loaded.query('insert into feeds (owner_id, sequence) values ($1, 0)', [last]);
  await loaded.query('update account_position set epoch = 0, sequence = 0');
  const lock = 'select from feeds where owner_id = $1 for update';
  await whileLocked(loaded.database, [lock, last], () => loaded.tasks.processDeletions(), {
    async meanwhile() {
      const counted = 'select tasks from feeds where owner_id = $1';
      await eventually(async () => expect(await loaded.query(counted, [first])).toEqual([{ tasks: 12_000 }]));
      await user.create({ title: 'meanwhile' });
    },
  });
  await expectCounted(loaded.database);
});

const MAX_UNPUBLISHED = 10_000;

it('rejects writes of an owner with too many unpublished changes, without an effect, until they are published', async () => {
  let isOut = true;
  const eventLog = choosyLog(() => (isOut ? refusal('LEADER_NOT_AVAILABLE') : undefined));
  const log = createAccountLog();
  const own = await startTasks({ name: 'unpublished_limit', eventLog, relay: HASTE, accounts: log.accounts });
  const [busy, leaving, other] = usersOf(3, own).flat() as [TestUser, TestUser, TestUser];
  const { id } = await busy.create({ title: 'first' }, 'first');
  await leaving.create({ title: 'of a deleted account' });
  // As if the owners had continued to write during the outage, up to one change below the limit.
  await own.query(
    `insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
       select part, owner_id, n, kind, task, previous, occurred_at from changes, generate_series(2, ${MAX_UNPUBLISHED - 1}) n`,
  );
  await own.query(`update feeds set sequence = ${MAX_UNPUBLISHED - 1}`);
  const unpublished = async () =>
    (await own.query('select from changes where owner_id = $1 and published_at is null', [busy.id])).length;
  const tasksLeft = () => own.query('select from tasks where user_id = $1', [leaving.id]);

  await busy.update(id, { title: 'the last that fits' });
  const writes = [
    'mutation { createTask(input: { title: "one more" }) { id } }',
    'mutation { createTask(input: { title: "one more" }, idempotencyKey: "more") { id } }',
    `mutation { updateTask(id: "${id}", input: { completed: true }) { id } }`,
    `mutation { updateTask(id: "${id}", input: { completed: true }, ifVersion: 2) { id } }`,
    `mutation { deleteTask(id: "${id}") }`,
  ];
  for (const write of writes) {
    const { errors } = await busy.send(write);
    const message = 'Too many of your changes wait for the change feed. Try again later.';
    expect(errors).toMatchObject([{ message, extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  }
  expect(await unpublished()).toBe(MAX_UNPUBLISHED);
  await expect(busy.update(id, {}, 1)).rejects.toThrow('PRECONDITION_FAILED');
  expect(await busy.create({ title: 'first' }, 'first')).toMatchObject({ id });
  await other.create({ title: 'of another owner' });

  await leaving.create({ title: 'the last that fits' });
  log.delete(leaving.id);
  await own.tasks.processDeletions();
  expect(await tasksLeft()).toHaveLength(2);

  isOut = false;
  await own.delivered();
  await own.tasks.processDeletions();
  expect(await tasksLeft()).toEqual([]);
  for (const write of writes.toSpliced(2, 1)) expect(codeOf(await busy.send(write))).toBe(undefined);
}, 60_000);
