import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type ErrorCode, type TaskChanged } from '@taskmesh/contracts';
import { createFeed } from '@taskmesh/gateway/simulated';
import { callInProcess, tasksInternal, tasksRestore } from '@taskmesh/internal-api';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog, systemClock } from '@taskmesh/service';
import { createTasks, readTasksConfig } from '@taskmesh/tasks';
import { atEnd, connectClient, createTestDatabase, eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { runBackup } from './stores.ts';

const log = createLog({ service: 'new-epoch', level: 'silent' });
const eventLog = createMemoryEventLog();
atEnd(eventLog.close);
/** Seconds since 2026. */
const SECONDS = () => Math.floor((Date.now() - Date.parse('2026-01-01T00:00Z')) / 1_000);
const TABLES = ['tasks', 'feeds', 'changes', 'feed_state'];

const accounts = { accountChanges: async () => ({ epoch: 1, head: 0, changes: [] }) };
const [database, auth] = await Promise.all([createTestDatabase('epoch_tasks'), createTestDatabase('epoch_auth')]);
const config = readTasksConfig({ NODE_ENV: 'test', POSTGRES_URL: database.url });
const tasks = await createTasks(config, { clock: systemClock, log, eventLog, accounts });
await tasks.start();
atEnd(tasks.stop);
const owners = { tasks: callInProcess(tasksRestore, tasks.restore) };
const backup = await runBackup('epoch', { tasks: database, auth }, owners, { busyMs: 300 });

function reader() {
  const received = { begin: '', changes: [] as TaskChanged[], ends: [] as string[] };
  return {
    received,
    onBegin: (cursor: string) => void (received.begin = cursor),
    onChange: (change: TaskChanged) => void received.changes.push(change),
    onEnd: (reason: string) => void received.ends.push(reason),
    drained: async () => undefined,
  };
}

async function create(owner: string, title: string): Promise<void> {
  const query = 'mutation ($title: String!) { createTask(input: { title: $title }) { id } }';
  const identity = { role: 'user' as const, userId: owner, sessionId: randomUUID() };
  const { errors } = await tasks.subgraph.execute({ query, variables: { title } }, { identity, requestId: 'r' });
  expect(errors).toBeUndefined();
}

/** Begins a new epoch as an operator, over GraphQL. @throws AppError */
async function newEpoch(atLeast?: number): Promise<{ epoch: number }> {
  const { data, errors } = await backup.backup.subgraph.execute(
    { query: 'mutation ($atLeast: Int) { newEpoch(atLeast: $atLeast) { epoch } }', variables: { atLeast } },
    { identity: { role: 'operator' }, requestId: 'r' },
  );
  const [failure] = errors ?? [];
  if (failure) throw new AppError(failure.extensions?.code as ErrorCode, failure.message); // our services set an `ErrorCode`
  return data?.newEpoch as { epoch: number };
}

async function untilPublished(): Promise<void> {
  const isPending = () => database.query('select from changes where published_at is null limit 1');
  await eventually(async () => expect(await isPending()).toEqual([]));
}

/** Takes a physical backup: all tables, including the state of the feed. Returns a function that restores it. */
async function atThisMoment(): Promise<() => Promise<void>> {
  await untilPublished();
  const kept = await Promise.all(TABLES.map((table) => database.query(`select to_jsonb(t) as row from ${table} t`)));
  return async () => {
    for (const [index, table] of TABLES.entries()) {
      const rows = JSON.stringify(kept[index]?.map(({ row }) => row));
      await database.query(`truncate ${table}`);
      await database.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [rows]);
    }
  };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(() => 'none').catch((error: unknown) => (error instanceof AppError ? error.code : String(error)));

describe('a new epoch, after a physical restore of the database', () => {
  it('ends every feed, rejects all earlier cursors, and delivers everything written since', async () => {
    const owner = randomUUID();
    const feed = createFeed({ eventLog, tasks: callInProcess(tasksInternal, tasks.internal), log, headsEveryMs: 100 });
    await feed.start();
    atEnd(feed.stop);
    await create(owner, 'before the backup');
    const putBack = await atThisMoment();
    const first = reader();
    await feed.subscribe(owner, undefined, first);
    await create(owner, 'lost again');
    await eventually(() => expect(first.received.changes).toHaveLength(1));
    // The physical restore also undoes an epoch from a restored archive, which gateways already know.
    const { epoch: between } = await newEpoch();
    await eventually(() => expect(first.received.ends).toEqual(['expired']));
    const live = reader();
    await feed.subscribe(owner, undefined, live);
    const old = [first.received.begin, first.received.changes[0]?.cursor, live.received.begin];

    await putBack();
    expect(await database.query('select epoch from feed_state')).toEqual([{ epoch: 1 }]);
    await sleep(1_000); // a physical restore takes at least as long
    const { epoch } = await newEpoch();
    expect(epoch).toBeGreaterThan(between);
    await eventually(() => expect(live.received.ends).toEqual(['expired']));
    for (const cursor of old) expect(await codeOf(feed.subscribe(owner, cursor, reader()))).toBe('CURSOR_EXPIRED');

    const next = reader();
    await feed.subscribe(owner, undefined, next);
    await create(owner, 'in the new epoch');
    const changes = [{ epoch, task: { title: 'in the new epoch' } }];
    await eventually(() => expect(next.received.changes).toMatchObject(changes));
    const again = reader();
    await feed.subscribe(owner, next.received.begin, again);
    await eventually(() => expect(again.received.changes).toMatchObject(changes));
    expect(live.received.changes).toEqual([]);
  });

  it('exceeds the current epoch, and follows the later of the clocks of the service and its database', async () => {
    const [one, two] = [await newEpoch(), await newEpoch()];
    expect(two.epoch).toBeGreaterThan(one.epoch);
    await database.query('update feed_state set epoch = 1999999999');
    expect(await newEpoch()).toEqual({ epoch: 2_000_000_000 });
    const clock = { ...systemClock, now: () => Date.parse('2026-01-02T00:00Z') };
    const slow = await createTasks(config, { clock, log, eventLog, accounts });
    await database.query('update feed_state set epoch = 1');
    expect(await slow.restore.newEpoch()).toBeGreaterThanOrEqual(SECONDS() - 60);
    await slow.stop();
  });

  it('does not begin while the clocks are behind the changes in the store, unless the operator sets a minimum', async () => {
    await create(randomUUID(), 'of a time that has not come yet');
    await untilPublished();
    await database.query(`update changes set published_at = now() + interval '1 hour'`);
    const before = await database.query('select epoch from feed_state');
    await expect(newEpoch()).rejects.toThrow(/^The clock is behind the newest change of the store/);
    expect(await codeOf(newEpoch())).toBe('CONFLICT');
    expect(await database.query('select epoch from feed_state')).toEqual(before);
    const atLeast = SECONDS() + 7_200;
    expect(await newEpoch(atLeast)).toEqual({ epoch: atLeast });
    expect(await newEpoch(5)).toEqual({ epoch: atLeast + 1 });
    for (const nonsense of [0, 2_000_000_001]) expect(await codeOf(newEpoch(nonsense))).toBe('BAD_USER_INPUT');
    await database.query('update changes set published_at = now()');
  });

  it('does not begin during a restore, whose stores would bring a lower epoch', async () => {
    await connectClient(backup.own.url, `select pg_advisory_lock(hashtext('taskmesh-restore'))`);
    const before = await database.query('select epoch from feed_state');
    expect(await codeOf(newEpoch())).toBe('SERVICE_UNAVAILABLE');
    expect(await database.query('select epoch from feed_state')).toEqual(before);
  });
});
