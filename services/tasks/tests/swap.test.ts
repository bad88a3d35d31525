import type { TaskChanged } from '@taskmesh/contracts';
import { createRestoredDatabase, endSessions, eventually, swapDatabases } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { PARTITIONS } from '../src/feed/change.ts';
import { LOCK_CLASS } from '../src/relay/relay.statements.ts';
import { RESTORED_TASKS, restoredRow } from './support/restored.ts';
import { followed, replayed, storedTasks } from './support/history.ts';
import { underLoad } from './support/load.ts';
import { startTasks, type TestTasks, type TestUser } from './support/running-tasks.ts';

const RESTORED_TITLE = 'from the dump';

const service = await startTasks({ name: 'swap' });
const replica = await service.another();

const cursorOf = async (user: TestUser): Promise<string> =>
  (await user.request('{ tasks { changesCursor } }')).tasks.changesCursor;

/** Imports a dump with one task of each owner, and replaces the live store with it. */
async function restore(owners: string[]): Promise<void> {
  const { name } = service.database;
  const rows = owners.map((owner) => restoredRow({ user_id: `'${owner}'`, title: `'${RESTORED_TITLE}'` }));
  const fresh = await createRestoredDatabase(RESTORED_TASKS + rows.join(''));
  expect(await service.tasks.restore.importDatabase(fresh.name)).toMatchObject({
    complete: true,
    rows: { tasks: owners.length },
  });
  await endSessions(name);
  await swapDatabases(name, fresh.name, `${name}_old`);
}

it('recovers without a restart when another database replaces its own', async () => {
  const ids = Array.from({ length: 6 }, () => randomUUID());
  const users = ids.flatMap((id) => [service.user(id), replica.user(id)]);
  const [someone] = users as [TestUser];
  await someone.create({ title: 'before the restore' });
  const before = await cursorOf(someone);
  expect(await service.tasks.internal.openCursor(someone.id, before)).toEqual({ epoch: 1, sequence: 1 });

  const load = underLoad(users);
  try {
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(50));
    await restore(ids);
    const behind = load.acknowledged.length;
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(behind + 100));
  } finally {
    await load.stop();
  }
  load.expectNoErrors();

  const { epoch, heads } = await service.tasks.internal.heads(ids);
  expect(epoch).toBe(2);
  expect(await replica.tasks.internal.openCursor(someone.id, before)).toBeNull();
  expect(await service.tasks.internal.openCursor(someone.id, await cursorOf(someone))).toEqual({
    epoch: 2,
    sequence: heads[someone.id],
  });

  await Promise.all([service.delivered(), replica.delivered()]);
  await eventually(async () => expect(await locksOnTheNewStore()).toBe(PARTITIONS));
  await eventually(async () => expect((await partsOf(service)) + (await partsOf(replica))).toBe(PARTITIONS));
  const fresh = service.published.filter((change) => change.epoch === 2);
  const firstFresh = service.published.findIndex((change) => change.epoch === 2);
  expect(service.published.slice(firstFresh).filter((change) => change.epoch !== 2)).toEqual([]);
  await expectHistories(ids, fresh, heads);
});

const partsOf = async ({ tasks }: TestTasks) => Number((await tasks.ready()).checks?.relayParts);

async function locksOnTheNewStore(): Promise<unknown> {
  const [row] = await service.database.query(
    `select count(*)::int as n from pg_locks
     where locktype = 'advisory' and classid = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [LOCK_CLASS],
  );
  return row?.n;
}

async function expectHistories(ids: string[], changes: TaskChanged[], heads: Record<string, number>) {
  const histories = followed(changes);
  for (const id of ids) {
    const history = histories.get(id) ?? [];
    expect(history.length).toBe(heads[id]);
    const stored = await storedTasks(service.database, id);
    const created = stored.filter(({ title }) => title !== RESTORED_TITLE);
    expect(stored.length).toBe(created.length + 1);
    expect(replayed(history)).toEqual(created);
  }
}
