import type { Task } from '../src/tasks/task.entity.ts';
import { MOST_WITHOUT_KEYS, RECOUNT } from '../src/tasks/count.statements.ts';
import { placeOf, type TaskOrder } from '../src/tasks/task-order.ts';
import { createTaskRepository, type ListRequest } from '../src/tasks/task.repository.ts';
import { LARGE_OWNER, openLargeStore, SMALL_OWNER, type LargeStore } from './support/large-store.ts';
import { pagesOf } from './support/pages-of.ts';

/** The long test has as many as are promised. */
const OWNED = process.env.TASKMESH_LONG ? 100_000 : 20_000;
/** For each of fifty tasks there are the way through an index and its row; before them twelve scans begin at the most. */
const FEW_PAGES = 320;

let store: LargeStore;
beforeAll(async () => {
  store = await openLargeStore(OWNED);
  for (const owner of [SMALL_OWNER, LARGE_OWNER]) await store.client.query(RECOUNT.text, [owner, MOST_WITHOUT_KEYS]);
});
afterAll(() => store.close());

/** How many pages the statement touches that a repository runs. */
async function pagesFor(use: (repository: ReturnType<typeof createTaskRepository>) => Promise<unknown>) {
  let pages = 0;
  const run = async <Row>(_kind: unknown, statement: { name: string; text: string }, values: unknown[]) => {
    pages += await pagesOf(store.client, statement, values);
    return [{ id: null, total: 0, is_kept: true }] as Row[];
  };
  await use(createTaskRepository({ database: { run }, onUnkept: () => undefined }));
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

describe.each([
  ['a large owner', LARGE_OWNER],
  ['a small owner', SMALL_OWNER],
])('%s', (_who, ownerId) => {
  it.each(ORDERS)(
    `reads few pages for a list by $field $direction, whatever the filter and the place`,
    async (order) => {
      const found: Record<string, number> = {};
      for (const filter of FILTERS)
        for (const [at, behind] of [
          ['start', undefined],
          ['middle', placeOf(MIDDLE, order)],
          ['undated', placeOf({ ...MIDDLE, dueDate: null }, order)],
        ] as const) {
          if (at === 'undated' && order.field !== 'DUE_DATE') continue;
          const request: ListRequest = {
            ownerId,
            filter,
            order,
            limit: 51,
            offset: 0,
            behind,
            withTotal: false,
            withHead: true,
            withPrevious: true,
          };
          const count = await pagesFor((repository) => repository.list(request));
          if (count > FEW_PAGES) found[`${JSON.stringify(filter)} at ${at}`] = count;
        }
      expect(found).toEqual({});
    },
  );

  it(`reads few pages for statistics and totals`, async () => {
    expect(await pagesFor((repository) => repository.statistics(ownerId))).toBeLessThan(20);
    for (const filter of FILTERS.filter(({ category }) => category !== 'inbox')) {
      const order: TaskOrder = { field: 'CREATED_AT', direction: 'DESC' };
      const request: ListRequest = {
        ownerId,
        filter,
        order,
        limit: 0,
        offset: 0,
        behind: undefined,
        withTotal: true,
        withHead: false,
        withPrevious: false,
      };
      const count = await pagesFor((repository) => repository.list(request));
      expect([filter, count < FEW_PAGES]).toEqual([filter, true]);
    }
  });
});
