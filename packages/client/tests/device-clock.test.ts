import type { LiveTasks, LiveTasksOptions } from '../src/list/live-tasks.ts';
import { createRandom } from './model/random.ts';
import { createWorld } from './model/world.ts';

const DAY_MS = 24 * 3_600_000;

describe.each([
  ['a day behind', -DAY_MS],
  ['a day ahead', DAY_MS],
  ['right', 0],
])('on a device whose clock is %s', (_clock, skewMs) => {
  /** A list of older tasks, of which it knows only the first two. */
  const opened = async (options: LiveTasksOptions) => {
    const world = createWorld(createRandom(1), { lost: 0, doubled: 0, late: 0 }, skewMs);
    for (const title of ['oldest', 'older', 'old']) {
      world.server.create({ input: { title } });
      world.pass(1_000);
    }
    const list = world.openList({ first: 2, ...options });
    list.subscribe(() => undefined);
    const arriveAll = async () => {
      while (await world.step());
    };
    await arriveAll();
    return { ...world, list, arriveAll };
  };
  const titles = (list: LiveTasks) => list.get().tasks.map(({ title }) => title);

  it.each(['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'] as const)(
    'new tasks are shown where the server will put them (%s)',
    async (field) => {
      const { create, list, arriveAll } = await opened({ orderBy: { field, direction: 'DESC' } });
      for (const title of ['new', 'newer']) create({ title });
      expect(titles(list)).toEqual(['newer', 'new', 'old', 'older']);
      await arriveAll();
      expect(titles(list)).toEqual(['newer', 'new', 'old', 'older']);
    },
  );

  it('a new task beyond the known part of a list is not shown in it', async () => {
    const { create, list, arriveAll } = await opened({ orderBy: { field: 'CREATED_AT', direction: 'ASC' } });
    create({ title: 'new' });
    expect([titles(list), list.get().totalCount]).toEqual([['oldest', 'older'], 4]);
    await arriveAll();
    expect([titles(list), list.get().totalCount]).toEqual([['oldest', 'older'], 4]);
  });

  it('a changed task is shown where the server will put it', async () => {
    const { update, list, arriveAll } = await opened({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' } });
    update(list.get().tasks[1]?.id ?? '', { title: 'changed' });
    expect(titles(list)).toEqual(['changed', 'old']);
    await arriveAll();
    expect(titles(list)).toEqual(['changed', 'old']);
  });
});
