import {
  createTestClock,
  codeOf,
  issuesOf,
  startTasks,
  type Answer,
  type TestTasks,
  type TestUser,
} from './support/running-tasks.ts';

const clock = createTestClock();
let service: TestTasks;
let user: TestUser;

/** Twelve tasks; several share a due date, a priority or the moment of their creation. */
const INPUTS = [
  { title: 'a01', priority: 'LOW', dueDate: '2026-12-03T00:00:00Z', category: 'work' },
  { title: 'a02', priority: 'HIGH', dueDate: null, category: 'Work' },
  { title: 'a03', priority: 'MEDIUM', dueDate: '0001-01-01T00:00:00Z', category: '' },
  { title: 'a04', priority: 'LOW', dueDate: '2026-12-01T00:00:00Z', completed: true, category: 'work' },
  { title: 'a05', priority: 'HIGH', dueDate: '2026-12-03T00:00:00Z' },
  { title: 'a06', priority: 'MEDIUM', dueDate: null, completed: true },
  { title: 'a07', priority: 'HIGH', dueDate: '9999-12-31T23:59:59.999Z', category: 'work' },
  { title: 'a08', priority: 'LOW', dueDate: null },
  { title: 'a09', priority: 'MEDIUM', dueDate: '2026-12-01T00:00:00Z' },
  { title: 'a10', priority: 'HIGH', dueDate: '2026-12-03T00:00:00.001Z', completed: true },
  { title: 'a11', priority: 'LOW', dueDate: '2026-12-03T00:00:00Z' },
  { title: 'a12', priority: 'MEDIUM', dueDate: null, category: 'work' },
];

const stored: Answer[] = [];

beforeAll(async () => {
  service = await startTasks({ name: 'list', clock });
  user = service.user();
  for (const [n, input] of INPUTS.entries()) {
    if (n % 3 === 0) clock.advance(60_000);
    stored.push(await user.create(input));
  }
  for (const n of [7, 2, 10]) {
    clock.advance(1_000);
    stored[n] = await user.update(stored[n].id, {});
  }
  await service.user().create({ title: 'of another user', category: 'work' });
});
afterAll(() => service.stop());

const LIST = `query ($filter: TaskFilter, $orderBy: TaskOrder, $first: Int, $after: String, $offset: Int) {
  tasks(filter: $filter, orderBy: $orderBy, first: $first, after: $after, offset: $offset) {
    edges { cursor node { id title } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}`;

const list = async (variables: Record<string, unknown> = {}, by = user) => (await by.ask(LIST, variables)).tasks;
const titles = (page: Answer): string[] => page.edges.map(({ node }: Answer) => node.title);

/** The order as the decisions tell it, made by plain sorting. */
function expected(field: string, direction: string): string[] {
  const sign = direction === 'ASC' ? 1 : -1;
  const rank: Record<string, number> = { LOW: 0, MEDIUM: 1, HIGH: 2 };
  const keys = (task: Answer): (string | number)[] => {
    const never = direction === 'ASC' ? '~' : ' '; // after, or before, every date
    const first: Record<string, string | number | undefined> = {
      CREATED_AT: task.createdAt,
      UPDATED_AT: task.updatedAt,
      DUE_DATE: task.dueDate ?? never,
      PRIORITY: rank[task.priority],
    };
    return [first[field] ?? '', task.createdAt, task.id];
  };
  const compare = (one: Answer, other: Answer) => {
    const [left, right] = [keys(one), keys(other)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : (left[at] ?? 0) < (right[at] ?? 0) ? -sign : sign;
  };
  return stored.toSorted(compare).map(({ title }) => title);
}

const orders = ['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({ field, direction })),
);

describe.each(orders)('by $field $direction', (orderBy) => {
  it('is in that order, ties by age and id', async () => {
    expect(titles(await list({ orderBy }))).toEqual(expected(orderBy.field, orderBy.direction));
  });

  it.each([1, 3, 5, 12])('is the same read page by page, %i at a time', async (first) => {
    const seen: string[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < 20; pages++) {
      const page: Answer = await list({ orderBy, first, after });
      seen.push(...titles(page));
      expect(page.totalCount).toBe(12);
      expect(page.pageInfo.hasPreviousPage).toBe(pages > 0);
      expect(page.pageInfo.hasNextPage).toBe(seen.length < 12);
      expect([page.pageInfo.startCursor, page.pageInfo.endCursor]).toEqual([
        page.edges[0].cursor,
        page.edges.at(-1).cursor,
      ]);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(seen).toEqual(expected(orderBy.field, orderBy.direction));
  });

  it('goes on from any cursor, also when its task is gone', async () => {
    const mortal = await user.create({ title: 'mortal', dueDate: '2026-12-02T00:00:00Z' });
    const { edges } = await list({ orderBy });
    const at = edges.findIndex(({ node }: Answer) => node.id === mortal.id);
    await user.remove(mortal.id);
    const rest = await list({ orderBy, after: edges[at].cursor });
    expect(titles(rest)).toEqual(expected(orderBy.field, orderBy.direction).slice(at));
    expect(rest.pageInfo.hasPreviousPage).toBe(at > 0);
  });
});

describe('the page', () => {
  it('shows the newest 50 unless asked otherwise', async () => {
    const busy = service.user();
    for (let n = 0; n < 51; n++) await busy.create({ title: `task ${n}` });
    const page = await list({}, busy);
    expect([page.edges.length, page.totalCount, titles(page)[0], page.pageInfo.hasNextPage]).toEqual([
      50,
      51,
      'task 50',
      true,
    ]);
    expect(
      titles(await list({ first: null, orderBy: null, filter: null, after: null, offset: null }, busy)),
    ).toHaveLength(50);
    expect(titles(await list({ first: 1000 }, busy))).toHaveLength(51);
  });

  it('skips an offset, and knows what lies before and behind', async () => {
    const page = await list({ first: 5, offset: 4 });
    expect(titles(page)).toEqual(expected('CREATED_AT', 'DESC').slice(4, 9));
    expect(page.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    expect((await list({ first: 5, offset: 0 })).pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const beyond = await list({ offset: 2_147_483_647 });
    expect(beyond).toEqual({
      edges: [],
      totalCount: 12,
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });

  it('is empty and honest for somebody without tasks', async () => {
    const stranger = service.user();
    const empty = {
      edges: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    };
    expect(await list({}, stranger)).toEqual(empty);
    expect(await list({ offset: 3 }, stranger)).toEqual(empty);
  });

  it('behind the last task has something before it and nothing behind', async () => {
    const { pageInfo } = await list();
    const page = await list({ after: pageInfo.endCursor });
    expect([page.edges, page.pageInfo]).toEqual([
      [],
      { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    ]);
  });

  it('can be asked for a single part', async () => {
    expect((await user.ask('{ tasks { totalCount } }')).tasks).toEqual({ totalCount: 12 });
    expect((await user.ask('{ tasks(first: 3) { pageInfo { hasNextPage } } }')).tasks).toEqual({
      pageInfo: { hasNextPage: true },
    });
    expect(
      (
        await user.ask(
          '{ tasks(offset: 3) { ...P } } fragment P on TaskConnection { pageInfo { ... on PageInfo { hasPreviousPage } } }',
        )
      ).tasks,
    ).toEqual({ pageInfo: { hasPreviousPage: true } });
    expect((await user.ask('{ tasks { n: totalCount } tasks { edges { node { title } } } }')).tasks.edges).toHaveLength(
      12,
    );
  });
});

describe('a filter', () => {
  it.each([
    [{ completed: true }, ['a10', 'a06', 'a04']],
    [{ completed: false, category: 'work' }, ['a12', 'a07', 'a01']],
    [{ category: 'Work' }, ['a02']],
    [{ category: '' }, ['a03']],
    [{ category: 'none' }, []],
    [{ priority: 'HIGH', completed: true }, ['a10']],
    [{ priority: 'LOW', category: 'work', completed: true }, ['a04']],
    [{ completed: null, category: null, priority: null }, INPUTS.map(({ title }) => title).toReversed()],
  ])('%j finds %j', async (filter, found) => {
    const page = await list({ filter });
    expect(titles(page).toSorted()).toEqual(found.toSorted());
    expect(page.totalCount).toBe(found.length);
  });

  it('holds on every page, and totalCount ignores paging', async () => {
    const first = await list({ filter: { category: 'work' }, first: 2 });
    const second = await list({ filter: { category: 'work' }, first: 2, after: first.pageInfo.endCursor });
    expect([...titles(first), ...titles(second)].toSorted()).toEqual(['a01', 'a04', 'a07', 'a12']);
    expect([first.totalCount, second.totalCount, second.pageInfo.hasNextPage]).toEqual([4, 4, false]);
  });
});

describe('what makes no sense', () => {
  const cursorOf = async (orderBy: Answer) => (await list({ orderBy, first: 1 })).pageInfo.endCursor;
  const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const id = '01890000-0000-7000-8000-000000000001';
  const time = '2026-11-20T10:00:00.000Z';

  it.each([
    ['first', { first: 0 }],
    ['first', { first: 1_001 }],
    ['first', { first: -1 }],
    ['offset', { offset: -1 }],
    ['offset', { offset: 0, after: 'x' }],
    ['filter.category', { filter: { category: 'x'.repeat(256) } }],
    ['filter.category', { filter: { category: 'a\0' } }],
    ['filter.category', { filter: { category: '\ud800' } }],
    ['after', { after: '' }],
    ['after', { after: 'nonsense' }],
    ['after', { after: '🥛' }],
    ['after', { after: forged('CREATED_AT', 'DESC') }],
    ['after', { after: forged('CREATED_AT', 'DESC', time, `${id}'`) }],
    ['after', { after: forged('CREATED_AT', 'DESC', 'infinity', id) }],
    ['after', { after: forged('CREATED_AT', 'DESC', time, id, id) }],
    ['after', { after: forged('CREATED_AT', 'ASC', time, id) }],
    ['after', { after: forged('PRIORITY', 'DESC', 3, time, id), orderBy: { field: 'PRIORITY' } }],
    ['after', { after: forged('UPDATED_AT', 'DESC', null, time, id), orderBy: { field: 'UPDATED_AT' } }],
    [
      'after',
      { after: forged('DUE_DATE', 'DESC', '2026-02-30T00:00:00.000Z', time, id), orderBy: { field: 'DUE_DATE' } },
    ],
  ])('is refused, naming %s: %j', async (path, variables) => {
    const result = await user.send(LIST, variables);
    expect([codeOf(result), issuesOf(result)]).toEqual(['BAD_USER_INPUT', [expect.objectContaining({ path })]]);
  });

  it('includes a cursor of another order', async () => {
    const after = await cursorOf({ field: 'DUE_DATE', direction: 'ASC' });
    for (const orderBy of [
      { field: 'DUE_DATE', direction: 'DESC' },
      { field: 'PRIORITY', direction: 'ASC' },
    ]) {
      expect(codeOf(await user.send(LIST, { orderBy, after }))).toBe('BAD_USER_INPUT');
    }
  });
});

it("gives away nothing of others' through a cursor of theirs", async () => {
  const { pageInfo } = await list({ first: 1 });
  const page = await list({ after: pageInfo.endCursor }, service.user());
  expect([page.edges, page.totalCount, page.pageInfo.hasPreviousPage]).toEqual([[], 0, false]);
});
