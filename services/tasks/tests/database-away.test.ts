import { administer, endSessions, eventually } from '@taskmesh/testing';
import { followed, replayed, storedTasks } from './support/history.ts';
import { underLoad } from './support/load.ts';
import { codeOf, startTasks } from './support/running-tasks.ts';

const service = await startTasks({ name: 'away' });

const endConnections = () =>
  service.database.query(
    `select count(pg_terminate_backend(pid)) from pg_stat_activity
     where datname = current_database() and application_name like 'taskmesh-%'`,
  );

it('responds with success or SERVICE_UNAVAILABLE while connections are killed, and keeps every acknowledged write', async () => {
  const users = Array.from({ length: 4 }, () => service.user());
  const load = underLoad(users, { updates: true });
  try {
    for (let kills = 0; kills < 5 || load.acknowledged.length < 60; kills++) {
      await endConnections();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await load.stop();
  }
  load.expectNoErrors();
  await service.delivered();
  const histories = followed(service.published);
  for (const { id } of users) {
    const stored = await storedTasks(service.database, id);
    const acknowledged = load.acknowledged.filter(({ owner }) => owner === id).map((task) => task.id);
    expect(stored.map((task) => task.id)).toEqual(expect.arrayContaining(acknowledged));
    expect(replayed(histories.get(id) ?? [])).toEqual(stored);
  }
});

it('is not ready and responds with SERVICE_UNAVAILABLE while its database accepts no connections', async () => {
  const user = service.user();
  const { name } = service.database;
  try {
    await endSessions(name);
    expect(codeOf(await user.send('{ taskStatistics { total } }'))).toBe('SERVICE_UNAVAILABLE');
    expect((await service.tasks.ready()).ok).toBe(false);
  } finally {
    await administer(`alter database ${name} with allow_connections true`);
  }
  await eventually(async () => expect((await service.tasks.ready()).ok).toBe(true));
  await user.create({ title: 'back again' });
  await service.delivered();
  expect(service.published.findLast(({ ownerId }) => ownerId === user.id)?.task.title).toBe('back again');
});
