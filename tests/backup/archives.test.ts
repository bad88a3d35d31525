import { STORE_TABLES } from '@taskmesh/internal-api';
import { makeTempDir } from '@taskmesh/testing';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { fill, rowsOf } from './release-archive.ts';
import { runStores } from './stores.ts';

const stores = await runStores('archives');
const { users } = stores;

const SEED = 20_261_122;
const ROWS = 150;

type Entry = { file: string; schemaVersion: string | null };
type OfStores<Of> = Record<'tasks' | 'auth', Of>;
interface Content {
  manifest: { format: number; stores: OfStores<Entry> };
  dumps: OfStores<string>;
}

/** Changes an archive and makes its manifest match. Returns the new archive's name. */
function forge(file: string, change: (content: Content) => void): string {
  const dir = makeTempDir();
  execFileSync('tar', ['-xzf', join(stores.backupsDir, file), '-C', dir]);
  const read = (name: string) => readFileSync(join(dir, name), 'utf8');
  const manifest = JSON.parse(read('manifest.json')) as Content['manifest'];
  const content: Content = { manifest, dumps: { tasks: read('database.sql'), auth: read('auth.sql') } };
  change(content);
  for (const name of ['tasks', 'auth'] as const) {
    const [text, entry] = [content.dumps[name], manifest.stores[name]];
    const sha256 = createHash('sha256').update(text).digest('hex');
    Object.assign(entry, { sha256, sizeBytes: Buffer.byteLength(text) });
    writeFileSync(join(dir, entry.file), text);
  }
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest));
  execFileSync('tar', ['-czf', join(stores.backupsDir, 'forged.tar.gz'), '-C', dir, 'manifest.json', 'database.sql', 'auth.sql']); // prettier-ignore
  return 'forged.tar.gz';
}

const reasonOf = (file: string) =>
  stores.work
    .verify(file)
    .then(() => 'none')
    .catch((error: Error) => error.message);

beforeAll(() => fill(stores));

/** Otherwise, a restored archive would not prove every column. */
it('starts with rows that have a value in every column', async () => {
  const { tasks, accounts, audit_log } = await rowsOf(stores);
  for (const [table, rows] of Object.entries({ tasks, accounts, audit_log })) {
    const empty = Object.keys(rows[0] ?? {}).filter((column) => rows.every((row) => row[column] === null));
    expect([table, empty]).toEqual([table, []]);
  }
});

describe('an archive that was made here', () => {
  let made: string;
  beforeAll(async () => {
    ({ file: made } = await stores.work.create());
  }, 180_000);

  const ofTasks = (version: string | null) => (content: Content) => {
    content.manifest.stores.tasks.schemaVersion = version;
  };
  const inTasks = (from: string | RegExp, to: string) => (content: Content) => {
    content.dumps.tasks = content.dumps.tasks.replace(from, to);
  };
  it.each<[string, (content: Content) => void, RegExp]>([
    ['does not tell its schema', ofTasks(null), /no version, but only/],
    ['reports an earlier schema than it has', ofTasks('0001-tasks-and-feed'), /not of the version 0001-tasks-and-feed/],
    ['has a column of another type', inTasks(/(\bcompleted"?) boolean/, '$1 text'), /lacks tasks\.completed, which/],
    ['has rows that break the rules of today', inTasks('\tplain 24\t', '\tx\t'), /title has at least 3 characters/],
    ['has rows that the store itself refuses', inTasks(/\tlow\t/, '\tno\t'), /break the rules|was not accepted/],
  ])('is not fit for a restore when it %s', async (_what, change, reason) => {
    const forged = forge(made, change);
    expect(await reasonOf(forged)).toMatch(reason);
    expect((await stores.backup.backups.find(forged))?.verifiedAt).toBeNull();
  });

  it('from a newer schema is not restored: the response says why, and nothing changes', async () => {
    const before = await rowsOf(stores);
    const forged = forge(made, ({ manifest }) => (manifest.stores.auth.schemaVersion = '0099-future'));
    const message = expect.stringMatching(
      /not restored \(The archive has a schema of the version 0099-future, but only 0001-accounts to 0014-bcrypt-hashes are known: restore it with the release that made it, or with a newer one\)/,
    );
    expect(await stores.work.restore(forged)).toMatchObject({ outcome: 'PROCESSED', dropped: [], message });
    expect(await rowsOf(stores)).toEqual(before);
  }, 180_000);

  it('is rejected if data would be lost, unless the request allows it: then the response lists the data', async () => {
    await stores.tasks.query(`alter table tasks add column of_tomorrow text; update tasks set of_tomorrow = 'dear'`);
    await stores.auth.query('create table invoices (id int)');
    const { file } = await stores.work.create();
    await stores.tasks.query(`update tasks set title = 'changed'`);
    const message = expect.stringContaining('lose tasks.of_tomorrow');
    expect(await stores.work.restore(file)).toMatchObject({ outcome: 'PROCESSED', message, dropped: [] });
    expect(await stores.tasks.query(`select 1 from tasks where title <> 'changed'`)).toEqual([]);
    const dropped = ['tasks.tasks.of_tomorrow', 'auth.invoices'];
    const allowed = await stores.work.restore(file, undefined, { allowLoss: true });
    expect(allowed).toMatchObject({ outcome: 'RESTORED', dropped });
    expect(await stores.tasks.query(`select 1 from tasks where title = 'changed'`)).toEqual([]);
  }, 180_000);

  it('restores random rows of both stores unchanged, but no idempotency keys, which belong to a discarded history', async () => {
    const use = (key: string) =>
      stores.tasks.query(`insert into idempotency_keys values (gen_random_uuid(), $1, 'hash', '{}', now() + interval '1 day')`, [key]); // prettier-ignore
    const fits = (value: string) => !value.includes('\0') && [...value].length <= 250;
    const text = (minLength: number, maxLength: number) =>
      fc.string({ unit: 'grapheme', minLength, maxLength }).filter(fits);
    const title = text(0, 100).map((value) => `the ${value}`);
    const max = new Date('9999-12-31T23:59:59.999Z');
    const timeFrom = (min: string) =>
      fc.date({ min: new Date(min), max, noInvalidDate: true }).map((date) => date.toISOString());
    const [id, time] = [fc.uuid(), timeFrom('0001-01-01T00:00:00Z')];
    const task = fc.record({
      ...{ id, user_id: id, title, description: fc.option(text(0, 300)), completed: fc.boolean() },
      ...{ due_date: fc.option(time), category: fc.option(text(0, 60)), created_at: time, updated_at: time },
      ...{ priority: fc.constantFrom('low', 'medium', 'high'), version: fc.integer({ min: 1, max: 2_000_000_000 }) },
    });
    const ofAccount = { account_id: fc.option(id), session_id: fc.option(id), ip: fc.option(fc.ipV6()) };
    const at = timeFrom('2026-01-01T00:00:00Z');
    const entry = fc.record({ at, kind: text(1, 30), ...ofAccount, request_id: text(0, 60) });
    const options = { seed: SEED, numRuns: ROWS };
    await stores.tasks.query(
      'insert into tasks select * from json_populate_recordset(null::tasks, $1::json) on conflict do nothing',
      [JSON.stringify(fc.sample(task, options))],
    );
    await stores.auth.query(
      `insert into audit_log (at, kind, account_id, session_id, ip, request_id)
       select at, kind, account_id, session_id, ip, request_id from json_populate_recordset(null::audit_log, $1::json)`,
      [JSON.stringify(fc.sample(entry, options))],
    );
    await stores.auth.query(
      `insert into accounts select (json_populate_record(a, json_build_object('id', gen_random_uuid(), 'email', n || email,
         'email_key', n || email_key, 'name', names ->> n))).*
       from accounts a, (select $1::json as names) given, generate_series(0, 20) n where n < json_array_length(names)`,
      [JSON.stringify(fc.sample(title, { seed: SEED, numRuns: 20 }))],
    );
    const before = await rowsOf(stores);
    expect(before.tasks.length).toBeGreaterThan(ROWS);
    await use('before the backup');
    const { file } = await stores.work.create();
    await use('behind the backup');
    await stores.tasks.query(`delete from tasks where priority = 'low'; update tasks set title = 'changed'`);
    await stores.auth.query(`update accounts set name = 'changed'`);
    expect(await stores.work.restore(file)).toMatchObject({ outcome: 'RESTORED' });
    expect(await rowsOf(stores)).toEqual(before);
    expect(await stores.tasks.query('select key from idempotency_keys')).toEqual([]);
  }, 180_000);
});

it('a dump from somewhere else is restored without objects that the store does not know, and the response lists them', async () => {
  const { file } = await stores.work.create();
  const dir = makeTempDir();
  execFileSync('tar', ['-xzf', join(stores.backupsDir, file), '-C', dir, 'database.sql']);
  const dump = readFileSync(join(dir, 'database.sql'), 'utf8');
  const more = 'create table public.invoices (id int); alter table public.tasks add column of_tomorrow text;\n';
  writeFileSync(join(dir, 'database.sql'), dump.replace(/^-- PostgreSQL database dump complete/m, (end) => `${more}--\n${end}`)); // prettier-ignore
  execFileSync('tar', ['-czf', join(stores.backupsDir, 'foreign.tar.gz'), '-C', dir, 'database.sql']);
  const before = await rowsOf(stores);
  const dropped = ['tasks.invoices', 'tasks.tasks.of_tomorrow'];
  expect(await stores.work.restore('foreign.tar.gz')).toMatchObject({ outcome: 'RESTORED', dropped });
  expect(await rowsOf(stores)).toEqual(before);
}, 180_000);

/** Returns all dumps of the archive as one text. */
async function contentOf(file: string): Promise<string> {
  const download = await stores.work.download(file);
  return text((download?.content ?? Readable.from([])).pipe(createGunzip()));
}

it.each(['tasks', 'auth'] as const)(
  'the declaration of %s names every table, and columns that exist',
  async (store) => {
    const tables = await stores[store].query(`select tablename as name from pg_tables where schemaname = 'public'`);
    expect(tables.filter(({ name }) => !Object.hasOwn(STORE_TABLES[store], String(name)))).toEqual([]);
    const columns = await stores[store].query(
      `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'`,
    );
    const named = Object.entries(STORE_TABLES[store]).flatMap(([table, { owner, expires, replaced = {} }]) =>
      [owner, expires, ...Object.keys(replaced)].flatMap((column) => (column ? [`${table}.${column}`] : [])),
    );
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
  },
);

const IN_ARCHIVES = { rows: 'all rows', state: 'its state', nothing: 'no rows' };

it('what archives hold of each table is in the documentation', () => {
  const namesOf = (tables: Record<string, { archived: string }>, kind: string) =>
    Object.keys(tables).flatMap((name) => (tables[name]?.archived === kind ? [` \`${name}\``] : []));
  const { tasks, auth } = STORE_TABLES;
  const lineOf = (kind: string, said: string) => `| ${said} |${namesOf(tasks, kind)} |${namesOf(auth, kind)} |`;
  const lines = Object.entries(IN_ARCHIVES).map(([kind, said]) => lineOf(kind, said));
  const docs = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  expect(docs.split('\n')).toEqual(expect.arrayContaining(lines));
});

it('deletes the rows of every table of auth that has an owner with the account', async () => {
  const cascades = await stores.auth.query(
    `select conrelid::regclass::text as name from pg_constraint
     where confrelid = 'accounts'::regclass and contype = 'f' and confdeltype = 'c'`,
  );
  const erased = ['accounts', 'audit_log', ...cascades.map(({ name }) => String(name))];
  const owned = Object.entries(STORE_TABLES.auth).flatMap(([name, { owner }]) => (owner ? [name] : []));
  expect(erased.toSorted()).toEqual(owned.toSorted());
});

it('keeps sessions, tokens and the key of cursors out of archives, because they grant access', async () => {
  await users.signUp('eve@example.com', ['one']);
  const inStores = async (table: string) => (await stores.auth.query(`select 1 from ${table}`)).length;
  expect([(await inStores('sessions')) > 0, (await inStores('refresh_tokens')) > 0]).toEqual([true, true]);
  const { file } = await stores.work.create();
  const manifest = execFileSync('tar', ['-xzOf', join(stores.backupsDir, file), 'manifest.json'], { encoding: 'utf8' });
  const { tasks, auth } = (JSON.parse(manifest) as { stores: Record<string, { rows: Record<string, number> }> }).stores;
  for (const [tables, rows] of [[STORE_TABLES.tasks, tasks?.rows], [STORE_TABLES.auth, auth?.rows]] as const)
    for (const [table, { archived }] of Object.entries(tables))
      if (archived === 'nothing') expect([table, rows?.[table]]).toEqual([table, 0]);
  const content = await contentOf(file);
  const [live] = await stores.tasks.query(`select encode(cursor_key, 'hex') as key from feed_state`);
  expect(content).not.toMatch(/\nCOPY public\.(sessions|refresh_tokens) /);
  expect(content).toMatch(/\nCOPY public\.feed_state [^\n]*\n[^\n]*\\\\x[0-9a-f]{64}/);
  expect(content).not.toContain(String(live?.key));
}, 180_000); // prettier-ignore

it('makes archives that grow with the data, not with the changes, and contain no deleted tasks', async () => {
  const ada = await users.signUp('ada@example.com');
  const id = await users.createTask(ada, 'kept');
  await users.deleteTask(ada, await users.createTask(ada, 'removed text'));
  const before = await contentOf((await stores.work.create()).file);
  for (let n = 0; n < 50; n++) await users.changeTask(ada, id, { description: `${n} ${'x'.repeat(1_900)}` });
  const after = await contentOf((await stores.work.create()).file);
  expect(after.length - before.length).toBeLessThan(10_000);
  expect(before).toContain('kept');
  expect(before).not.toContain('removed text');
}, 180_000);

it('does not bring back rows of a deleted account or used sign-in codes with an undo', async () => {
  const bob = await users.signUp('bob@example.com', ['one']);
  await stores.tasks.query(
    `insert into dead_letters (id, source, fingerprint, owner_id, record, reason) values (1, 'gateway', 'f', '${bob.userId}', 'text of a task', 'r');
     insert into idempotency_keys values ('${bob.userId}', 'key', 'hash', '{"title": "one"}', now() + interval '1 day')`,
  );
  await stores.auth.query(
    `insert into sign_in_codes (hash, challenge, issuer, subject, email_verified, created_at, expires_at)
     values ('hash', 'challenge', 'issuer', 'subject', true, now(), '2100-01-01')`,
  );
  const { file } = await stores.work.create();
  expect((await stores.work.restore(file)).outcome).toBe('RESTORED');
  expect(await stores.auth.query('delete from sign_in_codes returning hash')).toEqual([{ hash: 'hash' }]);
  await users.deleteAccount(bob);
  await stores.services.tasks.processDeletions();
  expect((await stores.work.undo()).outcome).toBe('RESTORED');
  for (const [table, { owner }] of Object.entries(STORE_TABLES.tasks))
    if (owner)
      expect(await stores.tasks.query(`select '${table}' as name from ${table} where ${owner} = $1`, [bob.userId])).toEqual([]); // prettier-ignore
  expect(await stores.auth.query('select 1 from sign_in_codes')).toEqual([]);
}, 180_000);
