import type { TaskChanged } from '@taskmesh/contracts';
import { connectClient, eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { partOf } from '../src/feed/change.ts';
import { FORGET_CHANGES, FORGET_SURPLUS } from '../src/feed/feed.statements.ts';
import { DELETE_TASKS, ERASE_CHANGES } from '../src/owners/owner.statements.ts';
import { createAccountLog } from './support/account-log.ts';
import { startTasks, type TestTasks, type TestUser } from './support/running-tasks.ts';
import { openStore } from './support/store.ts';

const JOINS = ['hashjoin', 'mergejoin', 'nestloop'];
const OWNER = '01890000-0000-7000-8000-0000000000aa';
const TABLES_OF_OWNER = ['tasks', 'changes', 'idempotency_keys', 'dead_letters', 'closed_owners'];

const log = createAccountLog();
const service = await startTasks({ name: 'deletions', accounts: log.accounts, poolSize: 30 });

/** The number of this owner's rows in each table that has any. */
async function leftOf({ id }: Pick<TestUser, 'id'>, { database } = service): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  for (const table of TABLES_OF_OWNER) {
    const column = table.startsWith('task') ? 'user_id' : 'owner_id';
    const [row] = await database.query(`select count(*)::int as count from ${table} where ${column} = $1`, [id]);
    if (Number(row?.count) > 0) left[table] = Number(row?.count);
  }
  return left;
}

async function gone(user: TestUser, { tasks, database } = service): Promise<void> {
  await eventually(
    async () => {
      await tasks.processDeletions();
      expect(await leftOf(user, { database } as TestTasks)).toEqual({});
    },
    { timeoutMs: 20_000 },
  );
}

/** For a connection on which the server joins in this way. */
function urlFor({ url }: { url: string }, join: string): string {
  const off = ['indexscan', ...JOINS.filter((other) => other !== join)].map((way) => `-c enable_${way}=off`).join(' ');
  return `${url}?options=${encodeURIComponent(off)}`;
}

const createMany = async (user: TestUser, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) ids.push((await user.create({ title: `task ${number}` })).id);
  return ids;
};

/** Inserts many tasks directly, as if the changes that created them had been published and deleted long ago. */
async function fill(user: TestUser, count: number): Promise<void> {
  await user.create({ title: 'the first of many' });
  await service.delivered();
  await service.query(
    `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
     select gen_random_uuid(), $1, 'many ' || n, false, 'low', now() + n * interval '1 millisecond', now() from generate_series(2, $2::int) n`,
    [user.id, count],
  );
}

const changesOf = ({ id }: Pick<TestUser, 'id'>, published = service.published): TaskChanged[] =>
  published.filter(({ ownerId }) => ownerId === id);
const headOf = async ({ id }: Pick<TestUser, 'id'>) =>
  Number((await service.query('select sequence from feeds where owner_id = $1', [id]))[0]?.sequence ?? 0);

/** Expects that each task is deleted once, with gapless sequences after `before`. */
function expectDeleted(changes: TaskChanged[], count: number, before: number): void {
  const deletes = changes.filter(({ kind, sequence }) => kind === 'DELETE' && sequence > before);
  const expected = Array.from({ length: count }, (_, index) => before + index + 1);
  expect(deletes.map(({ sequence }) => sequence)).toEqual(expected);
  expect(new Set(deletes.map(({ task }) => task.id)).size).toBe(count);
  for (const { task, previous } of deletes) expect(previous).toEqual(task);
}

describe('when an account was deleted', () => {
  it('publishes DELETE events for its tasks in the order of their creation, and leaves nothing of them', async () => {
    const [ada, bob] = [service.user(), service.user()];
    const ids = await createMany(ada, 3);
    await ada.update(ids[1] ?? '', { completed: true, description: 'with a last change' });
    await ada.create({ title: 'once' }, 'a key');
    await service.query(
      `insert into dead_letters (source, fingerprint, owner_id, reason) values ('gateway', 'a record', $1, 'any')`,
      [ada.id],
    );
    await createMany(bob, 2);
    await service.delivered();
    const bobs = [await headOf(bob), await bob.request('{ tasks { edges { node { id version } } } }')];
    log.delete(ada.id);
    await gone(ada);
    await service.delivered();
    const changes = changesOf(ada);
    expectDeleted(changes, 4, 5);
    const last = changes.find(({ task }) => task.title === 'once')?.task.id;
    expect(changes.slice(5).map(({ task }) => task.id)).toEqual([...ids, last]);
    expect(changes[6]?.task).toMatchObject({ completed: true, description: 'with a last change', version: 2 });
    expect([await headOf(bob), await bob.request('{ tasks { edges { node { id version } } } }')]).toEqual(bobs);
    expect(changesOf(bob)).toHaveLength(2);
    expect((await service.tasks.internal.changesAfter(bob.id, 0, 10)).changes).toHaveLength(2);
    expect(await service.tasks.internal.changesAfter(ada.id, 0, 10)).toMatchObject({ expired: true, changes: [] });
    const value = JSON.stringify({ sequence: 1, task: { title: 'unreadable' } });
    await service.tasks.internal.reportUnreadable({ key: ada.id, value, reason: 'not read' });
    expect(await leftOf(ada)).toEqual({});
  });

  it('rejects further writes of its owner with UNAUTHENTICATED', async () => {
    const ada = service.user();
    const [id = ''] = await createMany(ada, 1);
    const stranger = service.user();
    for (const { id: account } of [ada, stranger]) log.delete(account);
    await gone(ada);
    await gone(stranger);
    for (const user of [ada, stranger]) {
      const { errors } = await user.send('mutation { createTask(input: { title: "late" }) { id } }');
      const failure = { message: 'The account no longer exists.', extensions: { code: 'UNAUTHENTICATED' } };
      expect(errors).toMatchObject([failure]);
      await expect(user.create({ title: 'late' }, 'a key')).rejects.toThrow('UNAUTHENTICATED');
      expect(await leftOf(user)).toEqual({});
    }
    await expect(ada.update(id, { title: 'late' })).rejects.toThrow('NOT_FOUND');
    expect((await service.user().create({ title: 'somebody else' })).title).toBe('somebody else');
  });

  it.each(JOINS)('writes its changes in order when the server joins by %s', async (join) => {
    const ada = service.user();
    await fill(ada, 60);
    // The transaction keeps the service from erasing meanwhile.
    const client = await connectClient(urlFor(service.database, join), 'begin');
    await client.query('insert into closed_owners (owner_id, deleted_at) values ($1, now())', [ada.id]);
    await client.query('update feeds set ends_at = sequence where owner_id = $1', [ada.id]);
    await client.query(DELETE_TASKS.text, [partOf(ada.id), 60, new Date(), ada.id]);
    const { rows } = await client.query('select sequence::int from changes where owner_id = $1 order by id', [ada.id]);
    expect(rows).toEqual(Array.from({ length: 61 }, (_, index) => ({ sequence: index + 1 })));
  });
});

const { store } = await openStore('lock_order');
// Otherwise two instances could wait for each other.
it.each(
  JOINS.flatMap((join) =>
    [
      { statement: ERASE_CHANGES, values: [OWNER, 100] },
      { statement: FORGET_CHANGES, values: [0, 0, 100, []] },
      { statement: FORGET_SURPLUS, values: [0, 100] },
    ].map((each) => ({ ...each, name: each.statement.name, join })),
  ),
)('$name locks changes in order when the server joins by $join', async ({ statement, values, join }) => {
  await store.query(
    `truncate feeds, closed_owners, changes;
     insert into feeds (owner_id, sequence, ends_at) values ('${OWNER}', 60, 60);
     insert into closed_owners (owner_id, deleted_at) values ('${OWNER}', now());
     insert into changes (id, part, owner_id, sequence, kind, task, occurred_at, published_at)
     select n, 1, '${OWNER}', n, 'DELETE', '{}', now(), now() from generate_series(60, 1, -1) n`,
  );
  const holder = await connectClient(store.url, 'begin');
  await holder.query('select from changes where id = 1 for update');
  const erased = (await connectClient(urlFor(store, join))).query(statement.text, values as unknown[]);
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(async () => expect(await store.query(waiting)).toHaveLength(1));
  expect(await store.query('select from changes for update skip locked')).toHaveLength(59);
  await holder.query('commit');
  expect((await erased).rows[0]).toMatchObject({ count: 60 });
});

it('several instances delete every task once, and in a single order', async () => {
  const ada = service.user();
  await fill(ada, 1_500);
  const before = await headOf(ada);
  const others = [await service.another(), await service.another()];
  log.delete(ada.id);
  await Promise.all([service, ...others].map(({ tasks }) => tasks.processDeletions()));
  await gone(ada);
  await service.delivered();
  const seen = new Map(changesOf(ada).map((change) => [change.sequence, change])); // records may be duplicated
  const inOrder = [...seen.values()].toSorted((one, other) => one.sequence - other.sequence);
  expectDeleted(inOrder, 1_500, before);
  expect(await headOf(ada)).toBe(before + 1_500);
});

it('the account log is read again, whole, if a failover lost entries whose numbers others have now', async () => {
  for (const [lost, added] of [
    [1, 1],
    [2, 2],
    [3, 1],
    [1, 2],
  ] as const) {
    // prettier-ignore
    for (let count = 0; count < 4; count++) log.delete(service.user().id);
    await service.tasks.processDeletions();
    const users = Array.from({ length: added }, () => service.user());
    for (const user of users) await user.create({ title: 'one' });
    log.lose(lost);
    for (const { id } of users) log.delete(id);
    for (const user of users) await gone(user);
  }
});

it('the account log deletes no account while auth is unavailable, and all once it responds', async () => {
  const users = Array.from({ length: 5 }, () => service.user());
  for (const user of users) await user.create({ title: 'one' });
  log.isUnavailable = true;
  const { requests } = log;
  for (const { id } of users) log.delete(id);
  await eventually(() => expect(log.requests).toBeGreaterThan(requests + 1));
  for (const user of users) expect(await leftOf(user)).toEqual({ tasks: 1, changes: 1 });
  log.isUnavailable = false;
  await eventually(async () => {
    for (const user of users) expect(await leftOf(user)).toEqual({});
  }, { timeoutMs: 20_000 }); // prettier-ignore
});

it('reports the number and the age of pending deletions', async () => {
  const [metrics, log] = [new Registry(), createAccountLog()];
  const own = await startTasks({ name: 'deletions_metrics', accounts: log.accounts, metrics });
  const valueOf = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
  expect(await valueOf('taskmesh_account_deletions_pending')).toBe(0);
  await own.query(`insert into closed_owners values ($1, now() - interval '1 hour')`, [randomUUID()]);
  expect(await valueOf('taskmesh_account_deletions_pending')).toBe(1);
  expect(await valueOf('taskmesh_account_deletions_oldest_pending_age_seconds')).toBeGreaterThanOrEqual(3_600);
  log.isUnavailable = true;
  const before = Number(await valueOf('taskmesh_account_log_read_age_seconds'));
  const { requests } = log;
  await eventually(() => expect(log.requests).toBeGreaterThan(requests));
  expect(await valueOf('taskmesh_account_log_read_age_seconds')).toBeGreaterThan(before);
  log.isUnavailable = false;
  await own.tasks.processDeletions();
  expect(await valueOf('taskmesh_account_log_read_age_seconds')).toBeLessThan(1);
});
