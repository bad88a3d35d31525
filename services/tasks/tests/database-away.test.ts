import { administer, endSessions, eventually } from '@taskmesh/testing';
import { followed, replayed, storedTasks } from './support/history.ts';
import { codeOf, startTasks } from './support/running-tasks.ts';

const service = await startTasks({ name: 'away' });

const endConnections = () =>
  service.database.query(
    `select count(pg_terminate_backend(pid)) from pg_stat_activity
     where datname = current_database() and application_name like 'taskmesh-%'`,
  );

it('responds with success or SERVICE_UNAVAILABLE while connections are killed, and keeps every acknowledged write', async () => {
  const users = Array.from({ length: 4 }, () => service.user());
  const acknowledged = new Map<string, string[]>();
  const codes = new Set<unknown>();
  let kills = 0;
  let writing = true;
  const killer = (async () => {
    while (writing) {
      await endConnections();
      kills++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  await Promise.all(
    users.map(async (user) => {
      for (let n = 0; n < 30 || kills < 5; n++) {
        const created = await user.send('mutation ($title: String!) { createTask(input: { title: $title }) { id } }', {
          title: `task ${n}`,
        });
        codes.add(codeOf(created));
        const { id } = (created.data?.createTask ?? {}) as { id?: string }; // as the operation selects it
        if (id) acknowledged.set(user.id, [...(acknowledged.get(user.id) ?? []), id]);
        codes.add(
          codeOf(
            await user.send(
              '{ tasks(first: 5) { totalCount changesCursor edges { node { id } } } taskStatistics { total } }',
            ),
          ),
        );
        if (id)
          codes.add(
            codeOf(
              await user.send('mutation ($id: ID!) { updateTask(id: $id, input: { completed: true }) { id } }', { id }),
            ),
          );
      }
    }),
  );
  writing = false;
  await killer;
  codes.delete(undefined);
  codes.delete('SERVICE_UNAVAILABLE');
  expect([...codes]).toEqual([]);
  await service.delivered();
  const histories = followed(service.published);
  for (const { id } of users) {
    const stored = await storedTasks(service.database, id);
    expect(stored.map((task) => task.id)).toEqual(expect.arrayContaining(acknowledged.get(id) ?? []));
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
