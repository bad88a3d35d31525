import { startTasks } from './support/running-tasks.ts';
import { openStore } from './support/store.ts';

const COLUMN = 'alter table tasks add column of_tomorrow text';

it('continues without an error while a newer release adds a column', async () => {
  const service = await startTasks({ name: 'rolling', poolSize: 2 });
  const user = service.user();
  const task = await user.create({ title: 'steady' });
  let uses = 0;
  const everything = async () => {
    await user.create({ title: 'another' });
    const key = `key ${uses++}`;
    for (let times = 0; times < 2; times++) await user.create({ title: 'once' }, key);
    await user.update(task.id, { completed: true });
    await user.update(task.id, { completed: false });
    await user.remove((await user.create({ title: 'short' })).id);
    await user.request(`query ($id: ID!) { task(id: $id) { title } }`, { id: task.id });
    await user.request('{ tasks { totalCount changesCursor edges { node { id } } pageInfo { hasPreviousPage } } }');
    await user.request('{ taskStatistics { total } }');
    const cursor = (await user.request('{ tasks { changesCursor } }')).tasks.changesCursor;
    expect(await service.tasks.internal.openCursor(user.id, cursor)).not.toBeNull();
    await service.tasks.internal.changesAfter(user.id, 0, 10);
    await service.tasks.housekeep();
    await service.delivered();
  };
  const onEachConnection = () => Promise.all([everything(), everything()]);
  await onEachConnection();
  for (const table of ['tasks', 'changes', 'feeds', 'feed_state', 'idempotency_keys', 'dead_letters']) {
    await service.database.query(COLUMN.replace('tasks', table));
    await onEachConnection();
  }
  await service.database.query('alter table tasks alter column version type bigint');
  await user.request(`query ($id: ID!) { task(id: $id) { title } }`, { id: task.id });
});

it('keeps columns in the log that only a newer release knows', async () => {
  const service = await startTasks({ name: 'newer' });
  const user = service.user();
  const { id } = await user.create({ title: 'noted' });
  await service.database.query(COLUMN);
  await service.database.query(`update tasks set of_tomorrow = 'n'`);
  await user.update(id, { completed: true });
  expect(
    await service.database.query(
      `select task->>'of_tomorrow' as task, previous->>'of_tomorrow' as previous from changes where sequence = 2`,
    ),
  ).toEqual([{ task: 'n', previous: 'n' }]);
});

it('repairs times that an update has moved past the year 9999', async () => {
  const { store, database } = await openStore('times_end', { poolSize: 1 });
  await store.query(`delete from mikro_orm_migrations where name = '0003-times-end'`);
  const owner = '01890000-0000-7000-8000-0000000000aa';
  await store.query(
    `with task as (
       insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       values ($1, $1, '"updated_at":"10000-01-01" \\ "x', false, 'low', now(), '10000-01-01T00:00Z') returning *
     )
     insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
     select 1, $1, 1, 'UPDATE', row_to_json(task), row_to_json(task), updated_at from task`,
    [owner],
  );
  await database.migrate();
  const last = '9999-12-31 23:59:59.999+00';
  expect(
    await store.query(
      `select t.updated_at = $1::timestamptz as task, c.occurred_at = $1::timestamptz as change,
         (c.task->>'updated_at')::timestamptz = $1::timestamptz as image,
         (c.previous->>'updated_at')::timestamptz = $1::timestamptz as previous, c.task->>'title' = t.title as title
       from tasks t, changes c`,
      [last],
    ),
  ).toEqual([{ task: true, change: true, image: true, previous: true, title: true }]);
});
