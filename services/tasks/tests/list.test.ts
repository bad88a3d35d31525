import { codeOf, issuesOf, startTasks, type Answer, type TestTasks, type TestUser } from './support/running-tasks.ts';

let service: TestTasks;
let user: TestUser;

beforeAll(async () => {
  service = await startTasks({ name: 'list' });
  user = service.user();
  for (let n = 0; n < 12; n++) await user.create({ title: `task ${n}` });
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
});

describe('what makes no sense', () => {
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
    ['after', { after: forged('DUE_DATE', 'DESC', time, time, id), orderBy: { field: 'UPDATED_AT' } }],
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
});

it("gives away nothing of others' through a cursor of theirs", async () => {
  const { pageInfo } = await list({ first: 1 });
  const page = await list({ after: pageInfo.endCursor }, service.user());
  expect([page.edges, page.totalCount, page.pageInfo.hasPreviousPage]).toEqual([[], 0, false]);
});
