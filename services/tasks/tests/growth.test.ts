import type { Statement } from '@taskmesh/store';
import { pagesOf } from '@taskmesh/store/testing';
import { connectClient } from '@taskmesh/testing';
import { FORGET_CHANGES, FORGET_SURPLUS } from '../src/feed/feed.statements.ts';
import { ERASE_CHANGES, ERASE_OTHERS } from '../src/owners/owner.statements.ts';
import { DISCARD, LIST, REPLAY } from '../src/relay/dead-letter.statements.ts';
import { READ_BLOCKED } from '../src/relay/relay.statements.ts';
import type { Task } from '../src/tasks/task.entities.ts';
import { positionOf, type TaskOrder } from '../src/tasks/task-order.ts';
import type { ListRequest } from '../src/tasks/list.statements.ts';
import { createTaskRepository } from '../src/tasks/task.repository.ts';
import { INPUT_FIELDS } from '../src/tasks/task-row.ts';
import { DELETE, FIND, FORGET_EXPIRED_KEYS, FORGET_SURPLUS_KEYS, UPDATE } from '../src/tasks/task.statements.ts';
import type { Client } from 'pg';
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
  const { store, database } = await openStore('large_store');
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
  return { client, database };
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
  const { rows } = await store.database.pool.query('show plan_cache_mode');
  expect(rows).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
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
    const count = await pagesFor((repository) => repository.list({ ...request, network: '' }));
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

it('reads few pages for any list of a small owner', async () =>
  expect(await above(FEW_PAGES, listsOf(SMALL_OWNER, ORDERS, FILTERS))).toEqual({}));

it('reads few pages for the list of a large owner by age', async () => {
  const byAge = ORDERS.filter(({ field }) => field === 'CREATED_AT');
  expect(await above(FEW_PAGES, listsOf(LARGE_OWNER, byAge, [{}]))).toEqual({});
});

it('reads the tasks of a large owner, and no others, for other lists, totals and statistics', async () => {
  // Each task may be on a separate page, and is read for the list's page, the tasks before it, and the total.
  const filters = [{}, { completed: true }, { priority: 'high', category: 'rare' } as const];
  const requests = listsOf(LARGE_OWNER, ORDERS, filters).map((request) => ({ ...request, withTotal: true }));
  expect(await above(3 * OWNED + FEW_PAGES, requests)).toEqual({});
  const statisticsOf = (ownerId: string) => pagesFor((repository) => repository.statistics({ ownerId, network: '' }));
  expect(await statisticsOf(LARGE_OWNER)).toBeLessThan(OWNED + FEW_PAGES);
  expect(await statisticsOf(SMALL_OWNER)).toBeLessThan(FEW_PAGES);
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

// The server takes the number of rows from the last analysis. If it is 0, comparing each row with each seems cheap.
describe('when the tables were empty at their last analysis', () => {
  const CLOSED_OWNER = '01890000-0000-7000-8000-0000000000dd';
  const FILL = `
    insert into feeds (owner_id, sequence, ends_at) values ('${LARGE_OWNER}', 40000, 40000);
    insert into closed_owners select unnest(array['${LARGE_OWNER}', '${CLOSED_OWNER}'])::uuid, now();
    insert into changes (id, part, owner_id, sequence, kind, task, occurred_at, published_at)
      select n, 1, case when n <= 40000 then '${LARGE_OWNER}' else gen_random_uuid() end, n, 'DELETE', '{}', now(),
        case when n <= 40000 then now() end
      from generate_series(1, 50000) n;
    select setval('changes_id_seq', 50000);
    insert into dead_letters (id, source, fingerprint, change_id, owner_id, reason)
      select n, 'relay', n, n, case when n <= 15000 then '${CLOSED_OWNER}'::uuid end, '' from generate_series(1, 40000) n;
    insert into idempotency_keys (owner_id, key, input_hash, task, expires_at)
      select case when n <= 40000 then '${CLOSED_OWNER}' else gen_random_uuid() end, n, '', '{}', now() + (n - 10000) * interval '1 s'
      from generate_series(1, 60000) n`;
  const TABLES = ['feeds', 'closed_owners', 'changes', 'dead_letters', 'idempotency_keys'];
  const IDS = Array.from({ length: 9_000 }, (_, n) => n + 1);
  const OWNERS = Array.from({ length: 50 }, (_, n) => LARGE_OWNER.replace('aa', String(n + 10)));
  let client: Client;

  beforeAll(async () => {
    const { store } = await openStore('was_empty');
    client = await connectClient(store.url);
    for (const table of TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await client.query(FILL);
    for (const table of TABLES) {
      await client.query(`delete from ${table}; analyze ${table}`);
      // Otherwise the statements meet the deleted rows, too, while another test's transaction is open.
      await client.query(`vacuum (truncate off) ${table}`);
    }
    await client.query(FILL);
    await client.query(`set enable_seqscan = off; set statement_timeout = '1 s'`);
  });

  it.each<{ statement: Statement; values: unknown[]; most: number }>([
    { statement: ERASE_CHANGES, values: [LARGE_OWNER, 1_000], most: 8_000 },
    { statement: ERASE_OTHERS, values: [CLOSED_OWNER, 1_000], most: 8_000 },
    { statement: FORGET_CHANGES, values: [0, 0, 1_000, []], most: 8_000 },
    { statement: FORGET_SURPLUS, values: [0, 1_000], most: 8_000 },
    { statement: FORGET_EXPIRED_KEYS, values: [new Date(), 1_000], most: 8_000 },
    { statement: FORGET_SURPLUS_KEYS, values: [[CLOSED_OWNER, ...OWNERS], 1_000, 10], most: 100_000 },
    { statement: READ_BLOCKED, values: [OWNERS, OWNERS.map(() => 1)], most: 1_000 },
    { statement: LIST, values: ['0', 1_000], most: 5_000 },
    { statement: REPLAY, values: [IDS], most: 300_000 },
    { statement: DISCARD, values: [IDS], most: 30_000 },
  ])('$statement.name reads at most $most pages, and compares little', async ({ statement, values, most }) => {
    await client.query('begin');
    expect(await pagesOf(client, statement, values).finally(() => client.query('rollback'))).toBeLessThan(most);
  });
});
