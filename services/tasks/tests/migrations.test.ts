import { startTasks } from './support/running-tasks.ts';

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
    const { tasks } = await user.request('{ tasks { changesCursor } }');
    expect(await service.tasks.internal.openCursor(user.id, tasks.changesCursor)).not.toBeNull();
    await service.tasks.internal.changesAfter(user.id, 0, 10);
    await service.tasks.housekeep();
    await service.delivered();
  };
  const onEachConnection = () => Promise.all([everything(), everything()]);
  await onEachConnection();
  for (const table of ['tasks', 'changes', 'feeds', 'feed_state', 'idempotency_keys', 'dead_letters']) {
    await service.query(COLUMN.replace('tasks', table));
    await onEachConnection();
  }
  await service.query('alter table tasks alter column version type bigint');
  await user.request(`query ($id: ID!) { task(id: $id) { title } }`, { id: task.id });
});

it('keeps columns in the log that only a newer release knows', async () => {
  const service = await startTasks({ name: 'newer' });
  const user = service.user();
  const { id } = await user.create({ title: 'noted' });
  await service.query(COLUMN);
  await service.query(`update tasks set of_tomorrow = 'n'`);
  await user.update(id, { completed: true });
  const logged = `select task->>'of_tomorrow' as task, previous->>'of_tomorrow' as previous from changes where sequence = 2`;
  expect(await service.query(logged)).toEqual([{ task: 'n', previous: 'n' }]);
});
