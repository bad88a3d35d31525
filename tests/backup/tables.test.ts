import { STORE_TABLES } from '@taskmesh/internal-api';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';
import { runStores } from './stores.ts';

const stores = await runStores('tables');
const { users } = stores;
afterAll(() => stores.stop());

/** Returns all dumps of the archive as one text. */
async function contentOf(file: string): Promise<string> {
  const download = await stores.work.download(file);
  return text((download?.content ?? Readable.from([])).pipe(createGunzip()));
}

describe.each(['tasks', 'auth'] as const)('the declaration of the tables of %s', (store) => {
  it('names every table of the store', async () => {
    const rows = await stores[store].query(`select tablename as name from pg_tables where schemaname = 'public'`);
    expect(rows.filter(({ name }) => !Object.hasOwn(STORE_TABLES[store], String(name)))).toEqual([]);
  });

  it('names columns that exist', async () => {
    const rows = await stores[store].query(
      `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'`,
    );
    const named = Object.entries(STORE_TABLES[store]).flatMap(([table, { owner, expires, replaced = {} }]) =>
      [owner, expires, ...Object.keys(replaced)].flatMap((column) => (column ? [`${table}.${column}`] : [])),
    );
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
  });
});

const IN_ARCHIVES = { rows: 'all rows', state: 'its state', nothing: 'no rows' };

it('is in the documentation', () => {
  const namesOf = (tables: Record<string, { archived: string }>, kind: string) =>
    Object.keys(tables).flatMap((name) => (tables[name]?.archived === kind ? [` \`${name}\``] : []));
  const { tasks, auth } = STORE_TABLES;
  const cells = ([kind, said]: [string, string]) => [
    ` ${said} `,
    `${namesOf(tasks, kind)} `,
    `${namesOf(auth, kind)} `,
  ];
  const lines = Object.entries(IN_ARCHIVES).map((row) => `|${cells(row).join('|')}|`);
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
