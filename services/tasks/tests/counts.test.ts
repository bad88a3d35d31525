import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createTasksDatabase } from '../src/database.ts';
import { createCountRepository } from '../src/tasks/count.repository.ts';
import { MOST_WITHOUT_KEYS, RECOUNT } from '../src/tasks/count.statements.ts';
import { createRecounts } from '../src/tasks/recounts.ts';
import { misjudged, uncounted } from './support/counts.ts';
import { createReleaseBefore } from './support/release-before.ts';
import { restoredDatabase, restoredRow, RESTORED_TASKS, type RestoredRow } from './support/restored.ts';
import { startTasks, type Answer, type TestTasks, type TestUser } from './support/running-tasks.ts';

let service: TestTasks;
let before: ReturnType<typeof createReleaseBefore>;
beforeAll(async () => {
  service = await startTasks({ name: 'counts' });
  before = createReleaseBefore(service.database);
});
afterAll(() => service.stop());

const PRIORITIES = ['low', 'medium', 'high'];
const pick = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)] as Item; // never of an empty list
const anyState = () => ({ completed: Math.random() < 0.5, priority: pick(PRIORITIES) });
const asInput = ({ completed, priority }: ReturnType<typeof anyState>) => ({
  completed,
  priority: priority.toUpperCase(),
});

/** What the service says of an owner, beside what is there. */
async function expectRight(user: TestUser): Promise<void> {
  const rows = await service.database.query('select completed, priority from tasks where user_id = $1', [user.id]);
  const countOf = (filter: Partial<ReturnType<typeof anyState>>) =>
    rows.filter((row) => Object.entries(filter).every(([name, value]) => row[name] === value)).length;
  const told = await user.ask(`{
    taskStatistics { total completed pending }
    all: tasks { totalCount } done: tasks(filter: { completed: true }) { totalCount }
    low: tasks(filter: { priority: LOW }) { totalCount } openHigh: tasks(filter: { completed: false, priority: HIGH }) { totalCount }
  }`);
  expect(told).toEqual({
    taskStatistics: {
      total: rows.length,
      completed: countOf({ completed: true }),
      pending: countOf({ completed: false }),
    },
    all: { totalCount: rows.length },
    done: { totalCount: countOf({ completed: true }) },
    low: { totalCount: countOf({ priority: 'low' }) },
    openHigh: { totalCount: countOf({ completed: false, priority: 'high' }) },
  });
}

const isCounted = async (user: TestUser): Promise<boolean> => !(await uncounted(service.database)).includes(user.id);

/** Writes at random, several at once; writes of a task that is gone find nothing. */
async function writeAtRandom(user: TestUser, { writes, share }: { writes: number; share: number }): Promise<void> {
  const ids: string[] = [];
  const write = async () => {
    const isOurs = Math.random() >= share;
    const dice = Math.random();
    const state = anyState();
    if (dice < 0.4 || ids.length === 0) {
      const id = isOurs ? (await user.create({ title: 'any', ...asInput(state) })).id : randomUUID();
      if (!isOurs) await before.create(user.id, id, state);
      return void ids.push(id);
    }
    const id = pick(ids);
    if (!isOurs) return void (await (dice < 0.8 ? before.update(user.id, id, state) : before.remove(user.id, id)));
    const ours: Promise<Answer> =
      dice < 0.7
        ? user.update(id, asInput(state))
        : dice < 0.8
          ? user.update(id, { title: 'other', ...asInput(state) }, 1)
          : user.remove(id);
    await ours.catch((error: Error) => expect(error.message).toMatch(/^(NOT_FOUND|PRECONDITION_FAILED)$/));
  };
  const writer = async () => {
    for (let n = 0; n < writes / 6; n++) await write();
  };
  await Promise.all(Array.from({ length: 6 }, writer));
}

it('counts are exact after any writes at once, and nobody has to count again', async () => {
  const user = service.user();
  for (let round = 0; round < 5; round++) {
    await writeAtRandom(user, { writes: 120, share: 0 });
    expect(await isCounted(user)).toBe(true);
    await expectRight(user);
  }
  expect(await misjudged(service.database)).toEqual([]);
});

const hasKeys = async (user: TestUser) =>
  (await service.database.query('select keys > 0 as has from feeds where owner_id = $1', [user.id]))[0]?.['has'];

const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

async function untilSomeWait(client: Client, count: number): Promise<void> {
  await eventually(async () => expect((await client.query(WAITING)).rows).toHaveLength(count));
}

const untilOneWaits = (client: Client) => untilSomeWait(client, 1);

/** As if the owner were a large one. */
const makeKeys = (user: TestUser) => service.database.query(RECOUNT.text, [user.id, -1]);

/** An owner with as many tasks as need keys, and one that `id` tells. */
async function largeUser(): Promise<{ user: TestUser; id: string }> {
  const user = service.user();
  const { id } = (await user.create({ title: 'first' })) as { id: string };
  await service.database.query(
    `with more as (
       insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       select gen_random_uuid(), $1, 'more', false, 'low', now(), now() from generate_series(1, $2::int) n returning 1
     )
     update feeds set pending_low = $2 where owner_id = $1`,
    [user.id, MOST_WITHOUT_KEYS],
  );
  return { user, id };
}

describe('an owner with keys', () => {
  it('becomes who has many tasks, soon after a look at them', async () => {
    const { user, id } = await largeUser();
    expect(await hasKeys(user)).toBe(false);
    await user.ask('{ tasks(first: 1, orderBy: { field: DUE_DATE }) { edges { node { id } } } }');
    await service.tasks.housekeep();
    expect(await hasKeys(user)).toBe(true);
    await expectRight(user);
    expect(await misjudged(service.database)).toEqual([]);
    await user.remove(id);
    await user.create({ title: 'another' });
    expect(await isCounted(user)).toBe(true);
    expect(await misjudged(service.database)).toEqual([]);
  });

  it('keeps them through any writes at once, and while they are made', async () => {
    const user = service.user();
    await user.create({ title: 'first' });
    await makeKeys(user);
    await writeAtRandom(user, { writes: 240, share: 0 });
    expect([await hasKeys(user), await isCounted(user)]).toEqual([true, true]);
    expect(await misjudged(service.database)).toEqual([]);
    let writing = true;
    const making = (async () => {
      while (writing) {
        // Another generation each time: what was counted is forgotten, as behind a write of the release before.
        await service.database.query('update feeds set counted = null where owner_id = $1', [user.id]);
        await makeKeys(user);
        expect(await misjudged(service.database)).toEqual([]);
      }
    })();
    await writeAtRandom(user, { writes: 600, share: 0.1 });
    writing = false;
    await making;
    await makeKeys(user);
    expect([await hasKeys(user), await isCounted(user)]).toEqual([true, true]);
    expect(await misjudged(service.database)).toEqual([]);
    await expectRight(user);
  });

  it.each(['remove', 'update', 'create'] as const)(
    'are right behind a write that began before they were made: %s',
    async (kind) => {
      const user = service.user();
      const { id } = await user.create({ title: 'first' });
      await makeKeys(user);
      await service.database.query('update feeds set counted = null where owner_id = $1', [user.id]);
      const maker = new Client({ connectionString: service.database.url });
      await maker.connect();
      await maker.query('begin');
      await maker.query(RECOUNT.text, [user.id, -1]);
      const writes = {
        remove: () => user.remove(id),
        update: () => user.update(id, { completed: true }),
        create: () => user.create({ title: 'second' }),
      };
      const writing = writes[kind]();
      await untilOneWaits(maker);
      await maker.query('commit');
      await maker.end();
      await writing;
      expect(await misjudged(service.database)).toEqual([]);
      await expectRight(user);
    },
  );
});

describe('keys that are being made', () => {
  const HELD = 4711;
  let database: Awaited<ReturnType<typeof createTasksDatabase>>;
  let holder: Client;
  beforeAll(async () => {
    const log = createLog({ service: 'tasks', level: 'silent' });
    database = await createTasksDatabase({ url: service.database.url, poolSize: 1, log });
    holder = new Client({ connectionString: service.database.url });
    await holder.connect();
    await service.database.query(`
      create function hold() returns trigger language plpgsql as $$ begin
        if current_setting('test.is_slow', true) = 'yes' then perform pg_advisory_xact_lock_shared(${HELD}); end if;
        return new;
      end $$`);
    for (const table of ['task_keys', 'feeds'])
      await service.database.query(
        `create trigger hold before insert on ${table} for each row execute function hold()`,
      );
  });
  afterAll(async () => {
    for (const table of ['task_keys', 'feeds']) await service.database.query(`drop trigger hold on ${table}`);
    await service.database.query('drop function hold');
    await holder.end();
    await database.close();
  });

  /** Whose inserts wait as long as `HELD` is held. */
  const openSlowSession: typeof database.openSession = (options) =>
    database.openSession({ ...options, settings: { ...options?.settings, 'test.is_slow': 'yes' } });

  const recountsOver = (sessions: Pick<typeof database, 'openSession'>) =>
    createRecounts(createCountRepository(sessions));

  it('by two instances at once are never older than the tasks', async () => {
    const { user, id } = await largeUser();
    const wrong: unknown[] = [];
    const slow = recountsOver({
      async openSession(options) {
        const session = await openSlowSession(options);
        return {
          ...session,
          async run<Row extends Record<string, unknown>>(...statement: Parameters<typeof session.run>) {
            const rows = await session.run<Row>(...statement);
            wrong.push(...(await misjudged(service.database)));
            return rows;
          },
        };
      },
    });
    const quick = recountsOver(database);
    for (const each of [slow, quick]) each.note(user.id);
    await holder.query('select pg_advisory_lock($1)', [HELD]);
    const making = slow.run();
    await untilOneWaits(holder);
    await quick.run();
    await user.update(id, { completed: true });
    await holder.query('select pg_advisory_unlock($1)', [HELD]);
    await making;
    expect(wrong).toEqual([]);
    expect(await hasKeys(user)).toBe(true);
    await expectRight(user);
  });

  it('are given up when the service stops', async () => {
    const { user } = await largeUser();
    const recounts = recountsOver({ openSession: openSlowSession });
    recounts.note(user.id);
    await holder.query('select pg_advisory_lock($1)', [HELD]);
    const making = recounts.run();
    await untilOneWaits(holder);
    await recounts.stop();
    await making;
    await holder.query('select pg_advisory_unlock($1)', [HELD]);
    expect(await hasKeys(user)).toBe(false);
    await expectRight(user);
  });

  it('are not begun when the service stops while it connects', async () => {
    const { user } = await largeUser();
    const { promise: connected, resolve: connect } = Promise.withResolvers<void>();
    const recounts = recountsOver({
      async openSession(options) {
        await connected;
        return openSlowSession(options);
      },
    });
    recounts.note(user.id);
    const making = recounts.run();
    await recounts.stop();
    connect();
    await making;
    expect(await hasKeys(user)).toBe(false);
    await expectRight(user);
  });

  it('are confirmed although the owner goes on writing', async () => {
    const { user, id } = await largeUser();
    let writing: Promise<Answer> | undefined;
    const recounts = recountsOver({
      async openSession(options) {
        const session = await openSlowSession(options);
        return {
          ...session,
          async run<Row extends Record<string, unknown>>(...[statement, values]: Parameters<typeof session.run>) {
            if (statement !== RECOUNT) return session.run<Row>(statement, values);
            await holder.query('select pg_advisory_lock($1)', [HELD]);
            const counting = session.run<Row>(statement, values);
            await untilSomeWait(holder, 1);
            writing = user.update(id, { completed: true });
            await Promise.race([writing, untilSomeWait(holder, 2)]);
            await holder.query('select pg_advisory_unlock($1)', [HELD]);
            return counting;
          },
        };
      },
    });
    recounts.note(user.id);
    await recounts.run();
    await writing;
    expect([await hasKeys(user), await isCounted(user)]).toEqual([true, true]);
    expect(await misjudged(service.database)).toEqual([]);
    await expectRight(user);
  });
});

it('a retry with a key is counted once', async () => {
  const user = service.user();
  await Promise.allSettled(Array.from({ length: 8 }, () => user.create({ title: 'once' }, 'key')));
  await user.create({ title: 'once' }, 'key');
  expect((await user.ask('{ taskStatistics { total } }')).taskStatistics).toEqual({ total: 1 });
  await expectRight(user);
});

it('a write that does not come to its end counts nothing', async () => {
  const user = service.user();
  const { id } = await user.create({ title: 'steady' });
  const blocker = new Client({ connectionString: service.database.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select from feeds where owner_id = $1 for update', [user.id]);
  const waiting = user.update(id, { completed: true });
  const failed = expect(waiting).rejects.toThrow();
  await untilOneWaits(blocker);
  await blocker.query(`select pg_terminate_backend(pid) from (${WAITING}) waiting`);
  await failed;
  await blocker.end();
  await expectRight(user);
});

describe('beside the release before', () => {
  it('what is told is right all the time, and counted again soon', async () => {
    const user = service.user();
    for (let round = 0; round < 5; round++) {
      await writeAtRandom(user, { writes: 120, share: 0.3 });
      await expectRight(user);
      expect(await misjudged(service.database)).toEqual([]);
      await service.tasks.housekeep();
      expect(await isCounted(user)).toBe(true);
      await expectRight(user);
      await user.create({ title: 'counted on' });
      expect(await isCounted(user)).toBe(true);
      await expectRight(user);
    }
  });

  it('a recount while others write is right, or is none', async () => {
    const user = service.user();
    let writing = true;
    const recounting = (async () => {
      while (writing) {
        await expectRight(user).catch(() => undefined); // what is told and what is there are of different moments here
        await service.tasks.housekeep();
        expect(await misjudged(service.database)).toEqual([]);
      }
    })();
    await writeAtRandom(user, { writes: 400, share: 0.2 });
    writing = false;
    await recounting;
    await expectRight(user);
  });

  it('an owner without a feed, as it left restored ones, is told what is there', async () => {
    const user = service.user();
    await service.database.query(
      `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       select gen_random_uuid(), $1, 'restored', n % 2 = 0, 'high', now(), now() from generate_series(1, 5) n`,
      [user.id],
    );
    await user.create({ title: 'new' });
    await expectRight(user);
    await service.tasks.housekeep();
    expect(await isCounted(user)).toBe(true);
    await expectRight(user);
  });
});

it('a restored store is counted', async () => {
  const [owner, another] = [randomUUID(), randomUUID()];
  const rows: RestoredRow[] = [
    { user_id: `'${owner}'`, completed: 'true', priority: `'high'` },
    { user_id: `'${owner}'` },
    { user_id: `'${another}'`, priority: `'low'` },
  ];
  const loaded = await restoredDatabase(RESTORED_TASKS + rows.map(restoredRow).join(''));
  try {
    await service.tasks.restore.importDatabase(loaded.name);
    expect(await uncounted(loaded)).toEqual([]);
    expect(await misjudged(loaded)).toEqual([]);
    await loaded.query(`delete from tasks where priority = 'low'`);
    await service.tasks.restore.resume(loaded.name);
    expect(await uncounted(loaded)).toEqual([]);
    expect(await misjudged(loaded)).toEqual([]);
  } finally {
    await loaded.drop();
  }
});

it('an operator has everything counted again by forgetting the counts', async () => {
  const user = service.user();
  await user.create({ title: 'there' });
  await service.database.query('update feeds set pending_medium = 7, counted = null');
  await expectRight(user);
  await service.tasks.housekeep();
  expect(await isCounted(user)).toBe(true);
  expect(await misjudged(service.database)).toEqual([]);
});
