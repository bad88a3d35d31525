import fc from 'fast-check';
import { type GraphqlResult, codeOf, issuesOf, startTasks, type TestUser } from './support/running-tasks.ts';

const service = await startTasks({ name: 'list' });
const user = service.user();
for (let n = 0; n < 12; n++) await user.create({ title: `task ${n}` });

const LIST = `query ($filter: TaskFilter, $orderBy: TaskOrder, $first: Int, $after: String, $offset: Int) {
  tasks(filter: $filter, orderBy: $orderBy, first: $first, after: $after, offset: $offset) {
    edges { cursor node { id title } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}`;

const list = async (variables: Record<string, unknown> = {}, by = user) => (await by.request(LIST, variables)).tasks;

it('has 50 tasks by default', async () => {
  const busy = service.user();
  for (let n = 0; n < 51; n++) await busy.create({ title: `task ${n}` });
  const nothing = { first: null, orderBy: null, filter: null, after: null, offset: null };
  for (const variables of [{}, nothing]) expect((await list(variables, busy)).edges).toHaveLength(50);
});

const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const id = '01890000-0000-7000-8000-000000000001';
const time = '2026-11-20T10:00:00.000Z';

it.each([
  ['first', { first: 0 }],
  ['first', { first: 1_001 }],
  ['offset', { offset: -1 }],
  ['offset', { offset: 0, after: 'x' }],
  ['filter.category', { filter: { category: 'x'.repeat(256) } }],
  ['filter.category', { filter: { category: '\ud800' } }],
  ['after', { after: 'nonsense' }],
  ['after', { after: forged('CREATED_AT', 'DESC') }],
  ['after', { after: forged('CREATED_AT', 'DESC', time, `${id}'`) }],
  ['after', { after: forged('CREATED_AT', 'DESC', 'infinity', id) }],
  ['after', { after: forged('CREATED_AT', 'ASC', time, id) }],
  ['after', { after: forged('DUE_DATE', 'DESC', time, time, id), orderBy: { field: 'UPDATED_AT' } }],
  ['after', { after: forged('PRIORITY', 'DESC', 3, time, id), orderBy: { field: 'PRIORITY' } }],
  [
    'after',
    { after: forged('DUE_DATE', 'DESC', '2026-02-30T00:00:00.000Z', time, id), orderBy: { field: 'DUE_DATE' } },
  ],
])('an invalid argument is rejected, naming %s: %j', async (path, variables) => {
  const result = await user.send(LIST, variables);
  expect([codeOf(result), issuesOf(result)]).toEqual(['BAD_USER_INPUT', [expect.objectContaining({ path })]]);
});

it("reveals nothing of another owner's tasks through that owner's cursor", async () => {
  const { pageInfo } = await list({ first: 1 });
  const page = await list({ after: pageInfo.endCursor }, service.user());
  expect([page.edges, page.totalCount, page.pageInfo.hasPreviousPage]).toEqual([[], 0, false]);
});

/** Few values, so that many tasks share them. */
const moment = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-06-01T00:00:00.000Z');
const task = fc.record({
  completed: fc.boolean(),
  priority: fc.constantFrom('low', 'medium', 'high'),
  category: fc.constantFrom(null, '', 'work', 'Work'),
  due_date: fc.constantFrom(null, '0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z'),
  created_at: moment,
  updated_at: moment,
});
const question = fc.record({
  filter: fc.record({
    completed: fc.constantFrom(null, false, true),
    priority: fc.constantFrom(null, 'LOW', 'MEDIUM', 'HIGH'),
    category: fc.constantFrom(null, '', 'work', 'other'),
  }),
  orderBy: fc.record({
    field: fc.constantFrom('CREATED_AT', 'UPDATED_AT', 'DUE_DATE', 'PRIORITY'),
    direction: fc.constantFrom('ASC', 'DESC'),
  }),
  first: fc.integer({ min: 1, max: 7 }),
  /** The index of the match to start after, or the number of matches to skip. */
  at: fc.integer({ min: -1, max: 30 }),
  isOffset: fc.boolean(),
});

type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

type Stored = Record<string, string | boolean | null> & { id: string };

const COLUMNS: Record<string, string> = {
  CREATED_AT: 'created_at',
  UPDATED_AT: 'updated_at',
  DUE_DATE: 'due_date',
  PRIORITY: 'priority',
};

/** The ids of all matches in order, as documented. */
function expected(tasks: Stored[], { filter, orderBy }: { filter: GraphqlResult; orderBy: GraphqlResult }): string[] {
  const sign = orderBy.direction === 'ASC' ? 1 : -1;
  const keysOf = (row: Stored) => {
    const first = row[COLUMNS[orderBy.field] ?? ''];
    const isUndated = orderBy.field === 'DUE_DATE' && first === null;
    const key = orderBy.field === 'PRIORITY' ? ['low', 'medium', 'high'].indexOf(String(first)) : String(first);
    return { isUndated, keys: [isUndated ? '' : key, String(row.created_at), row.id] };
  };
  const matches = tasks.filter(
    (row) =>
      (filter.completed ?? row.completed) === row.completed &&
      (filter.priority?.toLowerCase() ?? row.priority) === row.priority &&
      (filter.category ?? row.category) === row.category,
  );
  return matches
    .toSorted((one, other) => {
      const [left, right] = [keysOf(one), keysOf(other)];
      if (left.isUndated !== right.isUndated) return left.isUndated ? 1 : -1;
      const at = left.keys.findIndex((key, index) => key !== right.keys[index]);
      return (left.keys[at] ?? 0) < (right.keys[at] ?? 0) ? -sign : sign;
    })
    .map(({ id }) => id);
}

async function expectAnswers(user: TestUser, tasks: Stored[], questions: Question[]): Promise<void> {
  for (const { filter, orderBy, first, at, isOffset } of questions) {
    const all = expected(tasks, { filter, orderBy });
    const whole = (await user.request(LIST, { filter, orderBy, first: 1000 })).tasks;
    expect(whole.edges.map(({ node }: GraphqlResult) => node.id)).toEqual(all);
    const start = isOffset ? Math.max(0, at) : Math.min(at + 1, all.length);
    const place = isOffset ? { offset: start } : { after: whole.edges[start - 1]?.cursor ?? null };
    const page = (await user.request(LIST, { filter, orderBy, first, ...place })).tasks;
    expect({ ...page, edges: page.edges.map(({ node }: GraphqlResult) => node.id) }).toEqual({
      edges: all.slice(start, start + first),
      pageInfo: {
        hasNextPage: all.length > start + first,
        hasPreviousPage: start > 0 && all.length > 0,
        startCursor: page.edges[0]?.cursor ?? null,
        endCursor: page.edges.at(-1)?.cursor ?? null,
      },
      totalCount: all.length,
    });
  }
}

it('a page equals the result of filtering and sorting all tasks, for any tasks, filter, order and page', async () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(task, { maxLength: 40 }),
      fc.array(question, { minLength: 12, maxLength: 12 }),
      async (rows, questions) => {
        const user = service.user();
        const tasks = rows.map((row, n): Stored => ({
          ...row,
          id: `01890000-0000-7000-9000-${user.id.slice(-8)}${String((n * 7) % 41).padStart(4, '0')}`,
        }));
        await service.query(
          `insert into tasks (id, user_id, title, completed, priority, category, due_date, created_at, updated_at)
         select id, $1, 'any', completed, priority, category, due_date, created_at, updated_at
         from json_populate_recordset(null::tasks, $2)`,
          [user.id, JSON.stringify(tasks)],
        );
        await expectAnswers(user, tasks, questions);
      },
    ),
    { numRuns: 60 },
  ));
