import { createDice } from '@taskmesh/testing';
import { TaskmeshError } from '../src/errors.ts';
import type { LiveTasks, LiveTasksOptions } from '../src/list/live-tasks.ts';
import type { OrderDirection, TaskOrderField } from '../src/operations.generated.ts';
import { createWorld } from './model/world.ts';
import { settled } from './support/manual-time.ts';

const DAY_MS = 24 * 3_600_000;

/** A live list over a network that loses nothing. The test decides what arrives when. */
async function opened(options: LiveTasksOptions = {}, { skewMs = 0, before = [] as string[] } = {}) {
  const world = createWorld({ skewMs });
  for (const title of before) {
    world.server.create({ input: { title } });
    world.pass(1_000);
  }
  const list = world.openList(options);
  const seen = watch(list);
  await world.arriveAll();
  seen.length = 0;
  return { ...world, list, seen };
}

/** The displayed titles after each change. */
function watch(list: LiveTasks) {
  const seen: string[][] = [];
  list.subscribe(() => seen.push(titles(list)));
  return seen;
}

type World = Awaited<ReturnType<typeof opened>>;

/** A trailing … marks a pending write. */
const titles = (list: LiveTasks) => list.get().tasks.map(({ title, isPending }) => (isPending ? `${title}…` : title));
const keys = (list: LiveTasks) => list.get().tasks.map(({ key }) => key);

/** The server executes the write; then its change arrives before or after its response. */
const ORDERS = [
  ['the change arrives before the response', ['requests', 'changes', 'requests']],
  ['the response arrives before the change', ['requests', 'requests', 'changes']],
] as const;

describe.each(ORDERS)('when %s', (_what, order) => {
  it.each<[string, string[], (world: World, id: string) => unknown, string[]]>([
    ['a new task as the same row, once', [], ({ create }) => create({ title: 'new' }), ['new']],
    ['no old values of a changed task', ['old'], ({ update }, id) => update(id, { title: 'new' }), ['new']],
    ['no deleted task', ['old'], ({ remove }, id) => remove(id), []],
  ])('shows %s, at once and then always', async (_what, before, write, after) => {
    const world = await opened({}, { before });
    const { list, seen, server, step } = world;
    write(world, server.all()[0]?.id ?? '');
    const pending = after.map((title) => `${title}…`);
    expect(titles(list)).toEqual(pending);
    const rows = keys(list);
    for (const kind of order) expect(await step(kind)).toBe(true);
    expect([await step(), titles(list), keys(list), list.get().totalCount]).toEqual([false, after, rows, rows.length]);
    for (const shown of seen) expect([pending, after]).toContainEqual(shown);
  });
});

it('sorts pending writes with due dates of any time zone like the server, and counts them', async () => {
  const { create, server, list, arriveAll } = await opened({ orderBy: { field: 'DUE_DATE', direction: 'ASC' } });
  server.create({ input: { title: 'noon', dueDate: '2026-05-01T12:00:00.000Z' } });
  await arriveAll();
  create({ title: 'before noon', dueDate: '2026-05-01T13:30:00+02:00' });
  create({ title: 'never' });
  expect(titles(list)).toEqual(['before noon…', 'noon', 'never…']);
  expect(list.get().totalCount).toBe(3);
});

it('holds a write while a list is being read, and keeps showing it', async () => {
  const { server, create, openList, step, arriveAll } = createWorld();
  const list = openList({});
  const seen = watch(list);
  create({ title: 'new' });
  expect(await step()).toBe(true);
  expect(server.all()).toEqual([]);
  await arriveAll();
  expect(titles(list)).toEqual(['new']);
  const shown = seen.slice(seen.findIndex(({ length }) => length > 0));
  for (const each of shown) expect([['new…'], ['new']]).toContainEqual(each);
});

it('keeps showing a write that was sent before the list is read, whichever arrives first', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { create, openList, arriveAll } = createWorld({ random: createDice(seed) });
    create({ title: 'new' });
    await settled();
    const seen = watch(openList({}));
    await arriveAll();
    const shown = seen.slice(seen.findIndex(({ length }) => length > 0));
    for (const each of shown) expect([seed, each]).toEqual([seed, [expect.stringMatching(/^new/)]]);
  }
});

it('keeps showing a change whose response was lost before the list is read again', async () => {
  const faults = { lost: 0, doubled: 0, late: 0 };
  const { server, update, openList, step, arriveAll, tick } = createWorld({ faults });
  const { id } = server.create({ input: { title: 'before' } });
  faults.lost = 1;
  update(id, { title: 'after' });
  await arriveAll();
  faults.lost = 0;
  const list = openList({});
  list.subscribe(() => {});
  while (titles(list).length === 0) await step('requests');
  const seen = [titles(list)];
  list.subscribe(() => seen.push(titles(list)));
  while ((await step('requests')) || ((await tick()) && server.task(id)?.version === 1));
  for (const each of seen) expect(each).toEqual([expect.stringMatching(/^after/)]);
  expect(titles(list)).toEqual(['after']);
});

it('undoes a rejected write, together with the writes that depend on it', async () => {
  const { create, update, server, list, refused, arriveAll } = await opened({}, { before: ['there'] });
  server.create = () => {
    throw new TaskmeshError('BAD_USER_INPUT', 'no');
  };
  update(create({ title: 'refused' }), { title: 'of what is not there' });
  expect(titles(list)).toEqual(['of what is not there…', 'there']);
  await arriveAll();
  expect([titles(list), list.get().totalCount]).toEqual([['there'], 1]);
  expect(refused).toEqual(['BAD_USER_INPUT', 'NOT_CREATED']);
});

describe.each([
  ['a day behind', -DAY_MS],
  ['a day ahead', DAY_MS],
  ['correct', 0],
])('on a device whose clock is %s', (_clock, skewMs) => {
  /** A list of older tasks that has loaded only the first two. */
  const openedOld = async (field: TaskOrderField, direction: OrderDirection = 'DESC') => {
    const options = { first: 2, orderBy: { field, direction } };
    const world = await opened(options, { skewMs, before: ['oldest', 'older', 'old'] });
    /** The displayed titles before and after the server's response. */
    const shown = async () => {
      const here = world.list.get().tasks.map(({ title }) => title);
      await world.arriveAll();
      return [here, titles(world.list)];
    };
    return { ...world, shown };
  };

  it.each(['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'] as const)(
    'shows new tasks where the server will sort them (%s)',
    async (field) => {
      const { create, shown } = await openedOld(field);
      for (const title of ['new', 'newer']) create({ title });
      const expected = ['newer', 'new', 'old', 'older'];
      expect(await shown()).toEqual([expected, expected]);
    },
  );

  it('does not show a new task that belongs beyond the loaded part of a list', async () => {
    const { create, list, shown } = await openedOld('CREATED_AT', 'ASC');
    create({ title: 'new' });
    expect(list.get().totalCount).toBe(4);
    expect(await shown()).toEqual(Array(2).fill(['oldest', 'older']));
    expect(list.get().totalCount).toBe(4);
  });

  it('shows a changed task where the server will sort it', async () => {
    const { update, list, shown } = await openedOld('UPDATED_AT');
    update(list.get().tasks[1]?.id ?? '', { title: 'changed' });
    expect(await shown()).toEqual(Array(2).fill(['changed', 'old']));
  });
});
