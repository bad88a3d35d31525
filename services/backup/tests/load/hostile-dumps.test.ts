import { checkOnlyTables, loadDump, LoadError } from '@taskmesh/pg-rows';
import { connect, disconnect } from '@taskmesh/store/connection';
import { withoutValues } from '@taskmesh/pg-rows/without-values';
import { connectClient, makeTempDir } from '@taskmesh/testing';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_TABLES } from '../../src/archives/limits.ts';
import { RESTORED_SCHEMA } from '../../src/databases/names.ts';
import { DATABASE_STATE, SERVER_STATE } from '../support/catalogue.ts';
import { createFreshTestDatabase } from '../support/databases.ts';
import { BAD_BYTES, refusedIn, skippedIn } from './hostile-statements.ts';

/**
 * The state of a whole database, by catalogue, so that any change shows, not only those that we think of. A catalogue's row is
 * identified by its position and the transaction that wrote it, which neither statistics nor vacuum change.
 */
async function fingerprintOf(query: (text: string) => Promise<Record<string, unknown>[]>) {
  const found = await query(`
    select c.oid::regclass::text as name, nspname = 'pg_catalog' as "isCatalogue"
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'S') and not relisshared and nspname in ('pg_catalog', 'public') and relname !~ '^pg_statistic(_ext_data)?$' order by 1`);
  const text = found
    .map(({ name, isCatalogue }) => {
      const row = isCatalogue ? `ctid::text || xmin::text` : `row(t.*)::text`;
      return `select '${name}' as name, concat(count(*), ' ', bit_xor(hashtextextended(${row}, 0))) as state from ${name} t`;
    })
    .join(' union all ');
  return query(text);
}

/** Creates objects of every kind, which no dump may change. */
const LIVE_OBJECTS = `
  create table tasks (id int primary key, title text); insert into tasks values (1, 'live');
  grant select on tasks to public; alter table tasks enable row level security; create policy p on tasks using (true);
  create table u (id int references tasks, title text check (title <> '')); create sequence s; select nextval('s');
  create function f() returns trigger language plpgsql as 'begin return new; end'; create view v as select 1;
  create trigger t before insert on tasks for each row execute function f(); create domain loop as text;
  create type mood as enum ('a'); select lo_from_bytea(1, 'x'); comment on table tasks is 'ours';
  alter default privileges grant select on tables to public; create publication p; create statistics st on id, title from tasks`;

const dir = makeTempDir();
const path = join(dir, 'database.sql');
const { live, names, adminUrl, loaderUrl } = await createFreshTestDatabase('hostile');
await live.query(LIVE_OBJECTS);
const fresh = await connectClient(adminUrl);
const inFresh = async (text: string) => (await fresh.query(text)).rows;
const state = async () => ({
  live: [await live.query(DATABASE_STATE, [live.name]), await fingerprintOf(live.query)],
  fresh: [await live.query(DATABASE_STATE, [names.fresh]), await fingerprintOf(inFresh)],
  server: await live.query(SERVER_STATE, [live.name]),
  files: await readdir(dir),
});

/** Loads a dump in this process, which is faster: the loading processes have tests of their own. */
async function load(dump: Buffer): Promise<unknown> {
  await writeFile(path, dump);
  const settings = { search_path: 'pg_catalog', statement_timeout: null };
  const client = await connect({ url: loaderUrl, name: 'taskmesh-restore', settings });
  const loading = { path, client, schema: RESTORED_SCHEMA, maxTables: MAX_TABLES, describe: withoutValues };
  return loadDump(loading).finally(() => disconnect(client));
}

const TABLES = `drop table if exists public.tasks cascade; create table public.tasks (id int, title loop); create table u (id int, title public.mood); create table t (id int, title varchar(9));\n`;
const ROWS = `copy tasks from stdin;\n1\t\u{1f600}\n2\t'; drop table t; --\n\\.\ninsert into public.u values (1, 'a');\n`;

describe('a dump can only load rows', () => {
  const hostile = { ...names, mark: join(dir, 'mark') };
  let before: unknown;

  beforeAll(async () => {
    await writeFile(path, '');
    await inFresh('drop schema restored cascade');
    before = await state();
  });
  beforeEach(() => inFresh(`create schema restored; grant usage, create on schema restored to "${names.loader}"`));
  afterEach(async () => {
    await checkOnlyTables(fresh, RESTORED_SCHEMA);
    await inFresh('drop schema restored cascade');
  });
  afterAll(async () => expect(await state()).toEqual(before));

  it('skips or changes what would do more', async () => {
    await load(Buffer.from(`\ufeff${TABLES}${skippedIn(hostile).join(';\n')};\n${ROWS}`));
    const others = `select relname from pg_class where relnamespace = 'restored'::regnamespace and (relkind <> 'r' or relowner <> '${names.loader}'::regrole or relacl is not null)`;
    expect(await inFresh(others)).toEqual([]);
    expect(await inFresh('select title from restored.tasks order by id')).toEqual([{ title: '\u{1f600}' }, { title: `'; drop table t; --` }]); // prettier-ignore
  });

  it.each(refusedIn(hostile).map((attack) => [attack.slice(0, 60), attack]))('is refused with %j', async (_begin, attack) => {
    await expect(load(Buffer.from(`${TABLES}${ROWS}${attack};\n${ROWS}`))).rejects.toThrow(LoadError);
    expect(await inFresh(`select from pg_class where relnamespace = 'restored'::regnamespace`)).toEqual([]);
    expect(await readdir(dir)).toEqual(['database.sql']);
  }); // prettier-ignore

  it.each(BAD_BYTES.map((bytes) => [bytes.toString('hex'), bytes] as const))(
    'is refused with the bytes %s',
    async (_hex, bytes) => {
      const dump = Buffer.concat([Buffer.from(`${TABLES}insert into t values (1, '`), bytes, Buffer.from(`');`)]);
      await expect(load(dump)).rejects.toThrow(LoadError);
    },
  );
});
