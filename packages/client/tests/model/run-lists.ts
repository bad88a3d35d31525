import { createDice, type Dice } from '@taskmesh/testing';
import type { LiveTasks, LiveTasksOptions } from '../../src/list/live-tasks.ts';
import type { LiveTask } from '../../src/list/overlay.ts';
import { comparatorOf, shapeOf } from '../../src/list/shape.ts';
import type {
  CreateTaskInput,
  OrderDirection,
  TaskOrderField,
  UpdateTaskInput,
} from '../../src/operations.generated.ts';
import { createWorld, type Faults } from './world.ts';

const DAY_MS = 24 * 3_600_000;
const FIELDS: TaskOrderField[] = ['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'];
const DIRECTIONS: OrderDirection[] = ['ASC', 'DESC'];
const DUE = [null, '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2027-01-01T00:00:00.000Z'];
const CATEGORIES = [null, '', 'home', 'work'];
const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'] as const;

type World = ReturnType<typeof createWorld>;
type Watched = ReturnType<typeof openList>;

/**
 * Opens random lists of one account while this and other clients write to it, over a network that loses, duplicates, delays
 * and reorders messages, and a server that drops changes and is restored. Finally, lets everything arrive.
 * @throws unless every list then equals the server's, and was sorted, without duplicates and non-matching tasks at any moment
 */
export async function runLists(seed: number, steps: number): Promise<void> {
  const random = createDice(seed);
  const faults = {
    lost: random.pick([0, 0.05, 0.3]),
    doubled: random.pick([0, 0.2]),
    late: random.pick([0, 0.5]),
    /** Events that make lists start over, which hides earlier losses. */
    rare: random.pick([0, 0.05, 0.5]),
  };
  const world = createWorld({ random, faults, skewMs: random.pick([0, -DAY_MS, DAY_MS]) });
  for (let tasks = random.int(30); tasks > 0; tasks--) world.server.create({ input: inputOf(random) });
  const lists = Array.from({ length: 3 }, () => openList(world, random));

  for (let step = 0; step < steps; step++) {
    if (random.chance(0.5)) await world.step();
    else await act(world, random, lists, faults);
    for (const { list, options } of lists) checkView(list, options, `seed ${seed}, step ${step}`);
  }

  Object.assign(faults, { lost: 0, doubled: 0, late: 0 });
  for (const watched of lists)
    if (watched.list.get().status === 'idle') watched.stop = watched.list.subscribe(() => {});
  await rest(world, seed);
  if (world.pending().length > 0) throw new Error(`seed ${seed}: ${world.pending().length} writes wait forever`);
  for (const { list, options } of lists) checkEnd(world, list, options, `seed ${seed}`);
}

/** Lets everything arrive and every timer fire. @throws when this never ends */
async function rest({ step, tick }: World, seed: number): Promise<void> {
  for (let steps = 0; steps < 20_000; steps++) if (!(await step()) && !(await tick())) return;
  throw new Error(`seed ${seed}: there is no end to it`);
}

async function act(world: World, random: Dice, lists: Watched[], faults: Faults & { rare: number }): Promise<void> {
  const { server } = world;
  const watched = random.pick(lists);
  const shown = watched.list.get().tasks;
  const there = server.all();
  const ifVersion = (version: number) => (random.chance(0.3) ? version : undefined);
  const onShown = (write: (task: LiveTask) => void) => shown.length > 0 && write(random.pick(shown));
  await random.oneOf(
    [2, () => world.create(inputOf(random))],
    [3, () => onShown(({ id, version }) => world.update(id, changeOf(random), ifVersion(version)))],
    [1, () => onShown(({ id, version }) => world.remove(id, ifVersion(version)))],
    [2, () => server.create({ input: inputOf(random) })],
    [3, () => there.length > 0 && server.update({ id: random.pick(there).id, input: changeOf(random) })],
    [1, () => there.length > 0 && server.remove({ id: random.pick(there).id })],
    [1, () => (random.chance(0.5) ? world.cut() : world.cutAll())],
    [1, () => void watched.list.loadMore(1 + random.int(5)).catch(() => undefined)],
    [1, world.tick],
    [1, () => world.pass(random.int(3))],
    [1, () => random.chance(faults.rare) && rarely(world, random, watched)],
  );
}

function rarely({ server }: World, random: Dice, watched: Watched): void {
  const resume = () => {
    if (watched.list.get().status === 'idle') watched.stop = watched.list.subscribe(() => {});
  };
  random.oneOf([1, server.expire], [1, server.backUp], [1, server.restore], [1, watched.stop], [2, resume]);
}

function openList(world: World, random: Dice) {
  const options: LiveTasksOptions = {
    orderBy: { field: random.pick(FIELDS), direction: random.pick(DIRECTIONS) },
    filter: {
      completed: random.pick([undefined, null, true, false]),
      category: random.pick([undefined, null, undefined, ...CATEGORIES]),
      priority: random.pick([undefined, undefined, ...PRIORITIES]),
    },
    first: random.pick([1, 3, 10, 100]),
  };
  const list = world.openList(options);
  return { list, options, stop: list.subscribe(() => {}) };
}

function inputOf(random: Dice): CreateTaskInput {
  return { title: `task ${random.int(1_000)}`, ...changeOf(random) } as CreateTaskInput; // always has a title
}

function changeOf(random: Dice): UpdateTaskInput {
  return {
    ...(random.chance(0.5) && { title: `title ${random.int(1_000)}` }),
    ...(random.chance(0.4) && { completed: random.chance(0.5) }),
    ...(random.chance(0.4) && { dueDate: random.pick(DUE) }),
    ...(random.chance(0.4) && { category: random.pick(CATEGORIES) }),
    ...(random.chance(0.4) && { priority: random.pick(PRIORITIES) }),
  };
}

/** Checked after every step: no task appears twice, all are in order, and all match. */
function checkView(list: LiveTasks, { filter, orderBy }: LiveTasksOptions, where: string): void {
  const { tasks } = list.get();
  for (const name of ['id', 'key'] as const)
    if (new Set(tasks.map((task) => task[name])).size !== tasks.length) throw new Error(`${where}: a ${name} twice`);
  const compare = comparatorOf(shapeOf(filter, orderBy).order);
  if (tasks.some((task, at) => at > 0 && compare(tasks[at - 1] as LiveTask, task) > 0))
    throw new Error(`${where}: they are in disorder`);
  for (const task of tasks)
    for (const name of ['completed', 'category', 'priority'] as const)
      if (filter?.[name] != null && task[name] !== filter[name]) throw new Error(`${where}: ${task.id} does not match`);
}

/** Checks that a list has the server's first tasks, as many as it has loaded. */
function checkEnd(
  { server }: World,
  list: LiveTasks,
  { filter, orderBy, first = 50 }: LiveTasksOptions,
  where: string,
) {
  const { status, tasks, totalCount, hasMore } = list.get();
  const expected = server.ordered(filter, orderBy);
  const got = tasks.map(({ key: _key, isPending, ...task }) => ({ ...task, isPending }));
  const wanted = expected.slice(0, tasks.length).map((task) => ({ ...task, isPending: false }));
  const all = { where, status, totalCount, hasMore, tasks: got };
  expect(all).toEqual({
    where,
    status: 'live',
    totalCount: expected.length,
    hasMore: expected.length > tasks.length ? true : hasMore,
    tasks: wanted,
  });
  // A list without more pages has all tasks.
  if (!hasMore) expect(tasks).toHaveLength(expected.length);
  else expect(first).toBeLessThan(100);
}
