import { createTaskInput } from '@taskmesh/contracts';
import { createRestoredDatabase, eventually, type TestDatabase } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { restoredRow, RESTORED_TASKS, type RestoredRow } from './support/restored.ts';
import { startTasks } from './support/running-tasks.ts';

const live = await startTasks({ name: 'import' });
let loaded: TestDatabase;

async function importDatabase(statements: string) {
  loaded = await createRestoredDatabase(statements);
  return live.tasks.restore.importDatabase(loaded.name);
}

const withRows = (...rows: RestoredRow[]) => RESTORED_TASKS + rows.map(restoredRow).join('');

/** The number of changes and feed sequences in a store. */
const CHANGES = 'select (select count(*) from changes) + (select coalesce(sum(sequence), 0) from feeds) as n';

const schemas = () =>
  loaded.query(`select nspname as name from pg_namespace where nspname in ('public', 'restored') order by 1`);

it('is rejected without a scan when it has too many tables', async () => {
  const many = `do $$ begin
    for t in 1..15 loop
      execute format('create table restored.t%s (%s)', t, (select string_agg(format('c%s int', n), ', ') from generate_series(1, 1400) n));
    end loop;
  end $$`;
  const refused = { complete: false, reason: 'The dump has more than 20000 columns.' };
  expect(await importDatabase(withRows({}) + many)).toEqual(refused);
});

it('reports what is left out, up to a limit', async () => {
  const columns = Array.from({ length: 60 }, (_, n) => `add column c${n} int`).join(', ');
  const result = await importDatabase(`${withRows({})} alter table restored.tasks ${columns}`);
  expect(result).toMatchObject({ complete: true, rows: { tasks: 1 } });
  const dropped = 'dropped' in result ? result.dropped : [];
  expect([dropped[0], dropped.length, dropped.at(-1)]).toEqual(['tasks.c0', 51, '10 more']);
});

describe('a complete restored store', () => {
  it('becomes a store with the same rows and nothing else, on which the service runs', async () => {
    const id = randomUUID();
    const statements = `${withRows(
      { id: `'${id}'`, version: '7', due_date: `'0001-01-01T00:00Z'`, category: `''`, description: `'some'` },
      { version: 'null' },
    )} create table restored.invoices (id int); create table restored.feeds (owner_id uuid);
      create table restored.feed_state (epoch int, cursor_key bytea); insert into restored.feed_state values (1, '\\x01')`;
    expect(await importDatabase(statements)).toEqual({ complete: true, rows: { tasks: 2 }, dropped: ['invoices'] });
    expect(await schemas()).toEqual([{ name: 'public' }]);
    expect(await loaded.query('select id, version, description, category from tasks order by version desc')).toEqual([
      { id, version: 7, description: 'some', category: '' },
      expect.objectContaining({ version: 1 }),
    ]);
    expect(await loaded.query(CHANGES)).toEqual([{ n: '0' }]);
    const structure = `select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'public' order by 1, 2`;
    expect(await loaded.query(structure)).toEqual(await live.query(structure));

    // Its cursor key is neither the live store's nor the dump's.
    const key = 'select length(cursor_key) as bytes, cursor_key::text as key from feed_state';
    const [[fresh], [old]] = [await loaded.query(key), await live.query(key)];
    expect(fresh?.bytes).toBe(32);
    expect(fresh?.key).not.toEqual(old?.key);

    // It can be renamed. A closed session, also this test's own, is listed until its process has ended.
    const connections = () => live.query(`select 1 from pg_stat_activity where datname = $1`, [loaded.name]);
    await eventually(async () => expect(await connections()).toEqual([]));
  });

  it('accepts text, times of other types and enumerations as text', async () => {
    const id = randomUUID();
    const statements = `create schema restored;
      create table restored.tasks (id text, user_id varchar(40), title varchar(300), description varchar, completed text,
        due_date timestamp, category varchar, priority text, created_at text, updated_at date);
      insert into restored.tasks values ('${id.toUpperCase()}', '${id}', 'old types', null, 'true',
        '2026-02-03 04:05:06', null, 'high', '2026-01-02T03:04:05.6+01:00', '2026-01-02')`;
    expect(await importDatabase(statements)).toMatchObject({ complete: true, rows: { tasks: 1 } });
    const utc = (name: string) => `(${name} at time zone 'UTC')::text as ${name}`;
    const times = ['due_date', 'created_at', 'updated_at'].map(utc);
    const due_date = '2026-02-03 04:05:06';
    expect(await loaded.query(`select id, completed, ${times.join(', ')} from tasks`)).toEqual([
      { id, completed: true, due_date, created_at: '2026-01-02 02:04:05.6', updated_at: '2026-01-02 00:00:00' },
    ]);
  });

  it.each([
    ['a lower epoch', 'integer', '1', 2],
    ['a higher epoch', 'integer', '41', 42],
    ['no number', 'text', `'x'`, 2],
    ['no room', 'bigint', '2147483647', 2],
  ])('begins an epoch above the live one and its own, with %s in the dump', async (_what, type, own, epoch) => {
    const state = `create table restored.feed_state (epoch ${type}); insert into restored.feed_state values (${own})`;
    expect(await importDatabase(withRows({}) + state)).toMatchObject({ complete: true, dropped: [] });
    expect(await loaded.query('select epoch from feed_state')).toEqual([{ epoch }]);
  });

  it('may be empty, and have no epoch', async () => {
    const statements = `${RESTORED_TASKS} create table restored.feed_state (other int)`;
    expect(await importDatabase(statements)).toEqual({ complete: true, rows: { tasks: 0 }, dropped: [] });
    expect(await loaded.query('select epoch from feed_state')).toEqual([{ epoch: 2 }]);
  });
});

describe('an incomplete restored store', () => {
  it.each([
    ['no table', 'create schema restored', /no table tasks/],
    ['nothing at all', 'select 1', /no table tasks/],
    ['too few columns', 'create schema restored; create table restored.tasks (id uuid, title text)', /due_date/],
  ])('is rejected: %s', async (_what, statements, reason) => {
    expect(await importDatabase(statements)).toEqual({ complete: false, reason: expect.stringMatching(reason) });
  });

  it('is rejected for each rule beyond those for requests that one of its rows breaks', async () => {
    loaded = await createRestoredDatabase(withRows({}));
    const broken: [string, RestoredRow][] = [
      ['title is needed', { title: 'null' }],
      ['priority', { priority: `'urgent'` }],
      ['priority is needed', { priority: 'null' }],
      ['completed is needed', { completed: 'null' }],
      ['user_id is needed', { user_id: 'null' }],
      ['id is needed', { id: 'null' }],
      ['created_at', { created_at: `'-infinity'` }],
      ['updated_at', { updated_at: `'infinity'` }],
      ['due_date', { due_date: `'0001-12-31 BC'` }],
      ['due_date', { due_date: `'9999-12-31T23:59:59.9996Z'` }],
    ];
    const texts = await live.query(
      `select column_name as name from information_schema.columns where table_name = 'tasks' and data_type = 'text'`,
    );
    expect(texts.length).toBeGreaterThanOrEqual(4);
    for (const { name } of texts) broken.push([String(name), { [String(name)]: `repeat('x', 2001)` }]);
    for (const [word, row] of broken) {
      await loaded.query(`delete from restored.tasks; ${restoredRow()} ${restoredRow(row)}`);
      const result = await live.tasks.restore.importDatabase(loaded.name);
      expect([row, result]).toEqual([row, { complete: false, reason: expect.stringContaining(word) }]);
      expect(await schemas()).toEqual([{ name: 'public' }, { name: 'restored' }]);
    }
  });

  it('is rejected for text that is not a value of the column', async () => {
    const statements = `create schema restored;
      create table restored.tasks (id text, user_id uuid, title text, description text, completed text,
        due_date text, category text, priority text, created_at text, updated_at text);
      insert into restored.tasks values ('1', gen_random_uuid(), 'text', null, 'perhaps', 'soon', null, 'low', 'x', now())`;
    const result = await importDatabase(statements);
    const wrong = ['id is needed', 'completed is needed', 'created_at is needed', 'due_date must be of the type'];
    for (const sentence of wrong)
      expect(result).toEqual({ complete: false, reason: expect.stringContaining(sentence) });
  });

  it('is rejected as a whole if two rows have the same id, and accepted after a correction', async () => {
    const id = `'${randomUUID()}'`;
    const refused = await importDatabase(withRows({ id }, { id }));
    expect(refused).toEqual({ complete: false, reason: expect.stringContaining('same id') });
    expect(await loaded.query('select count(*)::int as n from public.tasks')).toEqual([{ n: 0 }]);
    await loaded.query('delete from restored.tasks where ctid = (select max(ctid) from restored.tasks)');
    expect(await live.tasks.restore.importDatabase(loaded.name)).toMatchObject({ complete: true, rows: { tasks: 1 } });
  });

  it('is validated by the rules for requests', async () => {
    const long = (length: number) => '😀'.repeat(length);
    const titles = ['abc', '😀😀😀', '😀😀', ' x ', '   ', '\u2028\ufeff\u200d', 'x'.repeat(255), long(255), long(256)];
    const descriptions = [null, '', long(2000), long(2001)];
    const categories = [null, '', long(255), long(256)];
    const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
    loaded = await createRestoredDatabase(RESTORED_TASKS);
    const inputs = [
      ...titles.map((title) => ({ title, description: null, category: null })),
      ...descriptions.map((description) => ({ title: 'title', description, category: null })),
      ...categories.map((category) => ({ title: 'title', description: null, category })),
    ];
    const insert = ({ title, description, category }: (typeof inputs)[number]) =>
      loaded.query(restoredRow({ title: text(title), description: text(description), category: text(category) }));
    const isGood = (input: (typeof inputs)[number]) => createTaskInput.safeParse(input).success;
    const restored = () => live.tasks.restore.importDatabase(loaded.name);
    for (const input of inputs.filter((each) => !isGood(each))) {
      await loaded.query('truncate restored.tasks');
      await insert(input);
      expect([input, await restored()]).toMatchObject([input, { complete: false }]);
    }
    await loaded.query('truncate restored.tasks');
    const good = inputs.filter(isGood);
    for (const input of good) await insert(input);
    expect(await restored()).toMatchObject({ complete: true, rows: { tasks: good.length } });
  });
});

it('a database that is not a restored one is rejected: the live store, invalid names, missing databases', async () => {
  loaded = await createRestoredDatabase('select 1');
  const { importDatabase: importIt } = live.tasks.restore;
  for (const name of [live.database.name, '', 'x'.repeat(64)])
    await expect(importIt(name)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  await expect(importIt(`${loaded.name}_not_there`)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it('a store that would replace the live one is compared with it: the number of tasks, and which tasks would be removed or restored', async () => {
  await importDatabase(withRows({}));
  const [{ id } = {}] = await loaded.query('select id from tasks');
  const [now] = await live.query('select count(*)::int as n from tasks');
  const count = Number(now?.n);
  const compare = async () => (await live.tasks.restore.compare(loaded.name)).tables.tasks;
  expect(await compare()).toEqual({ now: count, after: 1, gone: count, back: 1 });
  await live.query(
    `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       values ($1, gen_random_uuid(), 'both have it', false, 'low', now(), now())`,
    [id],
  );
  expect(await compare()).toEqual({ now: count + 1, after: 1, gone: count, back: 0 });
  await live.query('delete from tasks where id = $1', [id]);
});

it('a store from before a restore continues in a new epoch with its rows, but without its earlier changes', async () => {
  const owner = randomUUID();
  await importDatabase(withRows({ user_id: `'${owner}'` }));
  await loaded.query(
    `update feeds set sequence = 7; update feed_state set epoch = 20;
       insert into changes (part, owner_id, sequence, kind, task, occurred_at) values (0, '${owner}', 7, 'DELETE', '{}', now())`,
  );
  const state = async () => (await loaded.query('select epoch, cursor_key from feed_state'))[0];
  const before = await state();
  await live.tasks.restore.resume(loaded.name);
  const after = await state();
  expect(after?.epoch).toBe(21);
  expect(after?.cursor_key).not.toEqual(before?.cursor_key);
  expect(await loaded.query('select count(*)::int as n from tasks')).toEqual([{ n: 1 }]);
  expect(await loaded.query(CHANGES)).toEqual([{ n: '0' }]);
});
