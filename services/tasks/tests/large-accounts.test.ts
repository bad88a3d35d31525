import type { Statement } from '@taskmesh/store';
import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import { Client } from 'pg';
import { createTasksDatabase } from '../src/database.ts';
import { GIVEN_FIELDS } from '../src/tasks/task-row.ts';
import { DELETE, FIND, UPDATE } from '../src/tasks/task.statements.ts';
import { pagesOf } from './support/pages-of.ts';

const OWNER = '01890000-0000-7000-8000-0000000000aa';
const OWNED = 5_000;
const OTHERS = 2_000;
/** A handful of index and heap pages for each table that a write touches. */
const FEW_PAGES = 60;

/** The title, and nothing else. */
const CHANGES = GIVEN_FIELDS.flatMap((field) => (field === 'title' ? [true, 'another title'] : [false, null]));

const idOf = (n: number) => `01890000-0000-7000-9000-${String(n).padStart(12, '0')}`;

async function openStore() {
  const store = await createTestDatabase('large_accounts');
  const database = await createTasksDatabase({
    url: store.url,
    poolSize: 1,
    log: createLog({ service: 'tasks', level: 'silent' }),
  });
  await database.migrate();
  const client = new Client({ connectionString: store.url });
  await client.connect();
  const insert = (of: string, from: number, to: number) =>
    client.query(
      `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at, version)
       select ('01890000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ${of}, 'x', false, 'low', now(), now(), 1
       from generate_series($1::int, $2::int) n`,
      [from, to],
    );
  // What PostgreSQL learns is that an account has a task or two; then one grows.
  await insert('gen_random_uuid()', 1, OTHERS);
  await client.query('analyze tasks');
  await insert(`'${OWNER}'`, OTHERS + 1, OTHERS + OWNED);
  return {
    client,
    async close() {
      await client.end();
      await database.close();
      await store.drop();
    },
  };
}

describe('an account with thousands of tasks among small ones', () => {
  let store: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    store = await openStore();
  });
  afterAll(() => store.close());

  it.each<[string, Statement, unknown[]]>([
    ['is read', FIND, [idOf(OTHERS + 7), OWNER]],
    ['is changed', UPDATE, [0, null, idOf(OTHERS + 8), OWNER, null, new Date(), ...CHANGES]],
    ['is deleted', DELETE, [0, null, idOf(OTHERS + 9), OWNER, null, new Date()]],
  ])('one task %s without a look at the others', async (_what, statement, values) => {
    expect(await pagesOf(store.client, statement, values)).toBeLessThan(FEW_PAGES);
  });
});
