import type { Statement } from '@taskmesh/store';
import { connectClient } from '@taskmesh/testing';
import { ERASE_CHANGES } from '../src/owners/owner.statements.ts';
import type { Task } from '../src/tasks/task.entities.ts';
import { positionOf, type TaskOrder } from '../src/tasks/task-order.ts';
import type { ListRequest } from '../src/tasks/list.statements.ts';
import { createTaskRepository } from '../src/tasks/task.repository.ts';
import { INPUT_FIELDS } from '../src/tasks/task-row.ts';
import { DELETE, FIND, UPDATE } from '../src/tasks/task.statements.ts';
import { type Client, escapeLiteral } from 'pg';
import { openStore } from './support/store.ts';

const LARGE_OWNER = '01890000-0000-7000-8000-0000000000aa';
const SMALL_OWNER = '01890000-0000-7000-8000-0000000000bb';

/** Number of tasks of other owners, nearly all alike, so that their statistics mislead the planner. */
const OTHERS = 5_000;

/**
 * A store of many small owners, and one with `owned` tasks. Matches of the filters are rare among those and last in every
 * order: without an index, a scan has to read all of them.
 */
async function openLargeStore(owned: number) {
  const { store, database } = await openStore('large_store', { poolSize: 1 });
  const client = await connectClient(store.url);
  const insert = (of: string, count: number) =>
    client.query(
      `insert into tasks (id, user_id, title, completed, priority, category, due_date, created_at, updated_at)
       select gen_random_uuid(), ${of}, 'task ' || n, n % 1000 = 1, (array['low', 'medium', 'high'])[case n % 1000 when 2 then 1 when 3 then 3 else 2 end],
         case when n % 1000 = 4 then 'rare' when n % 1000 <> 5 then 'inbox' end,
         case when n % 1000 between 6 and 12 then timestamptz '2026-01-01T00:00Z' + n * interval '1 second' end,
         timestamptz '2026-01-01T00:00Z' + (n % 1000) * interval '1 hour' + n * interval '1 ms',
         timestamptz '2026-02-01T00:00Z' + (n * 7919 % 100000) * interval '1 minute'
       from generate_series(1, $1::int) n`,
      [count],
    );
  await insert('gen_random_uuid()', OTHERS);
  await insert(`'${SMALL_OWNER}'`, 50);
  await insert(`'${LARGE_OWNER}'`, owned);
  await client.query('vacuum analyze tasks');
  return {
    client,
    /** A setting of the service's own connections. */
    setting: async (name: string) => (await database.pool.query(`show ${name}`)).rows[0]?.[name] as unknown,
  };
}

const literal = (value: unknown): string => {
  if (value == null) return 'null';
  return escapeLiteral(
    Array.isArray(value) ? `{${value.join(',')}}` : value instanceof Date ? value.toISOString() : String(value),
  );
};

/** The names of prepared statements by their texts. */
const names = new WeakMap<Client, Map<string, string>>();

async function prepared(client: Client, text: string): Promise<string> {
  const known = names.get(client) ?? new Map<string, string>();
  names.set(client, known);
  const name = known.get(text) ?? `looked_into_${known.size}`;
  if (known.has(text)) return name;
  await client.query(`set plan_cache_mode = force_generic_plan`);
  await client.query(`prepare ${name} as ${text}`);
  known.set(text, name);
  return name;
}

/**
 * Returns how many pages a statement touches with a generic plan, as on the service's connections. Parameters bound by the
 * protocol would give an EXPLAIN a custom plan, even with that setting.
 */
async function pagesOf(client: Client, { text }: Statement, values: unknown[]): Promise<number> {
  const name = await prepared(client, text);
  const { rows } = await client.query(
    `explain (analyze, buffers, timing off, format json) execute ${name} (${values.map(literal).join(', ')})`,
  );
  const { Plan } = rows[0]['QUERY PLAN'][0];
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
}

const OWNED = 20_000;
/** Fifty index lookups, each with the row. */
const FEW_PAGES = 320;
const store = await openLargeStore(OWNED);

/** Returns how many pages the repository's statements touch. */
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

/** A task in the middle of every order. */
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

it('uses generic plans, like the measurements in this file', async () => {
  expect(await store.setting('plan_cache_mode')).toBe('force_generic_plan');
});

const REQUEST: ListRequest = {
  ownerId: LARGE_OWNER,
  filter: {},
  order: { field: 'CREATED_AT', direction: 'DESC' },
  limit: 51,
  offset: 0,
  after: undefined,
  withTotal: false,
  withHead: true,
  withPrevious: true,
};

/** Returns the lists that read more than `most` pages. */
async function above(most: number, requests: ListRequest[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const request of requests) {
    const count = await pagesFor((repository) => repository.list(request));
    const { order, filter, after } = request;
    if (count > most) found[JSON.stringify({ order, filter, after })] = count;
  }
  return found;
}

const listsOf = (ownerId: string, orders: TaskOrder[], filters: ListRequest['filter'][]): ListRequest[] =>
  orders.flatMap((order) =>
    [undefined, positionOf(MIDDLE, order), positionOf({ ...MIDDLE, dueDate: null }, order)].flatMap((after) =>
      filters.map((filter) => ({ ...REQUEST, ownerId, order, filter, after })),
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
  // Each task may be on a separate page, and is read for the list's page, the tasks before it, and the total.
  const filters = [{}, { completed: true }, { priority: 'high', category: 'rare' } as const];
  const requests = listsOf(LARGE_OWNER, ORDERS, filters).map((request) => ({ ...request, withTotal: true }));
  expect(await above(3 * OWNED + FEW_PAGES, requests)).toEqual({});
  expect(await pagesFor((repository) => repository.statistics(LARGE_OWNER))).toBeLessThan(OWNED + FEW_PAGES);
  expect(await pagesFor((repository) => repository.statistics(SMALL_OWNER))).toBeLessThan(FEW_PAGES);
});

/** Changes only the title. */
const CHANGES = INPUT_FIELDS.flatMap((field) => (field === 'title' ? [true, 'another title'] : [false, null]));

it.each<[string, Statement, (id: unknown) => unknown[]]>([
  ['is read', FIND, (id) => [id, LARGE_OWNER]],
  ['is changed', UPDATE, (id) => [0, null, id, LARGE_OWNER, null, new Date(), ...CHANGES]],
  ['is deleted', DELETE, (id) => [0, null, id, LARGE_OWNER, null, new Date()]],
])('one task of a large owner %s without reading the others', async (_what, statement, valuesFor) => {
  const { rows } = await store.client.query('select id from tasks where user_id = $1 limit 1', [LARGE_OWNER]);
  expect(await pagesOf(store.client, statement, valuesFor(rows[0]?.id))).toBeLessThan(60);
});

it('erases no unpublished changes of a closed owner, without reading those of others', async () => {
  const { client } = store;
  const closed = '01890000-0000-7000-8000-0000000000cc';
  await client.query('insert into closed_owners (owner_id, deleted_at) values ($1, now())', [closed]);
  await pagesOf(client, ERASE_CHANGES, [closed, 1_000]); // the plan is made while there are few changes
  await client.query(
    `insert into changes (part, owner_id, sequence, kind, task, occurred_at)
     select 1, case when n < 100000 then gen_random_uuid() else $1 end, 1, 'DELETE', '{}', now() from generate_series(1, 100000) n`,
    [closed],
  );
  expect(await pagesOf(client, ERASE_CHANGES, [closed, 1_000])).toBeLessThan(60);
  expect((await client.query('select from changes where owner_id = $1', [closed])).rows).toHaveLength(1);
});
