import type { Statement } from '@taskmesh/store';
import type { Task } from '../src/tasks/task.entities.ts';
import { placeOf, type TaskOrder } from '../src/tasks/task-order.ts';
import type { ListRequest } from '../src/tasks/list.statements.ts';
import { createTaskRepository } from '../src/tasks/task.repository.ts';
import { GIVEN_FIELDS } from '../src/tasks/task-row.ts';
import { DELETE, FIND, UPDATE } from '../src/tasks/task.statements.ts';
import { LARGE_OWNER, openLargeStore, SMALL_OWNER, type LargeStore } from './support/large-store.ts';
import { pagesOf } from './support/pages-of.ts';

const OWNED = 20_000;
/** Fifty ways through the index, each to a row. */
const FEW_PAGES = 320;

let store: LargeStore;
beforeAll(async () => {
  store = await openLargeStore(OWNED);
});
afterAll(() => store.close());

/** How many pages the statement touches that a repository runs. */
async function pagesFor(use: (repository: ReturnType<typeof createTaskRepository>) => Promise<unknown>) {
  let pages = 0;
  const run = async <Row>(_kind: unknown, statement: { name: string; text: string }, values: unknown[]) => {
    pages += await pagesOf(store.client, statement, values);
    return [{ id: null, total: 0 }] as Row[];
  };
  await use(createTaskRepository({ database: { run }, maxTasks: 0 }));
  return pages;
}

const FIELDS: TaskOrder['field'][] = ['CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'];
const ORDERS = FIELDS.flatMap((field): TaskOrder[] => [
  { field, direction: 'ASC' },
  { field, direction: 'DESC' },
]);
const FILTERS = [null, false, true].flatMap((completed) =>
  ([null, 'low', 'medium', 'high'] as const).flatMap((priority) =>
    [null, 'inbox', 'rare'].map((category) => ({ completed, priority, category })),
  ),
);

/** A task in the midst of every order. */
const MIDDLE: Task = {
  id: '01890000-0000-7000-9000-000000000000',
  ownerId: LARGE_OWNER,
  title: 'middle',
  description: null,
  completed: false,
  dueDate: '2026-01-01T01:00:00.000Z',
  category: 'inbox',
  priority: 'medium',
  createdAt: '2026-01-20T00:00:00.000Z',
  updatedAt: '2026-03-01T00:00:00.000Z',
  version: 1,
};

it('is planned for any values, as the pages here are', async () => {
  expect(await store.setting('plan_cache_mode')).toBe('force_generic_plan');
});

const REQUEST: ListRequest = {
  ownerId: LARGE_OWNER,
  filter: {},
  order: { field: 'CREATED_AT', direction: 'DESC' },
  limit: 51,
  offset: 0,
  behind: undefined,
  withTotal: false,
  withHead: true,
  withPrevious: true,
};

/** The kinds of lists that read more than `most` pages. */
async function above(most: number, requests: ListRequest[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const request of requests) {
    const count = await pagesFor((repository) => repository.list(request));
    const { order, filter, behind } = request;
    if (count > most) found[JSON.stringify({ order, filter, behind })] = count;
  }
  return found;
}

const listsOf = (ownerId: string, orders: TaskOrder[], filters: ListRequest['filter'][]): ListRequest[] =>
  orders.flatMap((order) =>
    [undefined, placeOf(MIDDLE, order), placeOf({ ...MIDDLE, dueDate: null }, order)].flatMap((behind) =>
      filters.map((filter) => ({ ...REQUEST, ownerId, order, filter, behind })),
    ),
  );

it('reads few pages for any list of a small owner', async () => {
  expect(await above(FEW_PAGES, listsOf(SMALL_OWNER, ORDERS, FILTERS))).toEqual({});
});

it('reads few pages for the list of a large owner by age', async () => {
  const byAge = ORDERS.filter(({ field }) => field === 'CREATED_AT');
  expect(await above(FEW_PAGES, listsOf(LARGE_OWNER, byAge, [{}]))).toEqual({});
});

it('reads the tasks of a large owner, and no others, for other lists, totals and statistics', async () => {
  // Each of them may be on a page of its own, for the page of the list, what is before it, and the total.
  const filters = [{}, { completed: true }, { priority: 'high', category: 'rare' } as const];
  const requests = listsOf(LARGE_OWNER, ORDERS, filters).map((request) => ({ ...request, withTotal: true }));
  expect(await above(3 * OWNED + FEW_PAGES, requests)).toEqual({});
  expect(await pagesFor((repository) => repository.statistics(LARGE_OWNER))).toBeLessThan(OWNED + FEW_PAGES);
  expect(await pagesFor((repository) => repository.statistics(SMALL_OWNER))).toBeLessThan(FEW_PAGES);
});

/** The title, and nothing else. */
const CHANGES = GIVEN_FIELDS.flatMap((field) => (field === 'title' ? [true, 'another title'] : [false, null]));

it.each<[string, Statement, (id: unknown) => unknown[]]>([
  ['is read', FIND, (id) => [id, LARGE_OWNER]],
  ['is changed', UPDATE, (id) => [0, null, id, LARGE_OWNER, null, new Date(), ...CHANGES]],
  ['is deleted', DELETE, (id) => [0, null, id, LARGE_OWNER, null, new Date()]],
])('one task of a large owner %s without a look at the others', async (_what, statement, valuesFor) => {
  const { rows } = await store.client.query('select id from tasks where user_id = $1 limit 1', [LARGE_OWNER]);
  expect(await pagesOf(store.client, statement, valuesFor(rows[0]?.id))).toBeLessThan(60);
});
