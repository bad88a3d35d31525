import { findFreePort } from '@taskmesh/local';
import { atEnd, createTestDatabase, eventually, makeTempDir, query, type TestDatabase } from '@taskmesh/testing';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { earlierStores } from './earlier-stores.ts';
import { fill, rowsOf } from './release-archive.ts';
import { runStores, type Databases } from './stores.ts';

const DEBIAN = '/usr/lib/postgresql';

/** Finds Debian's installations and those in the folders of `PG_BINS`, with client and server, one per version (`15.18`). */
function findInstallations() {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
  const bins = [...debian, ...(process.env.PG_BINS ?? '').split(delimiter)];
  const whole = bins.filter((bin) => ['initdb', 'postgres', 'pg_dump'].every((tool) => existsSync(join(bin, tool))));
  const found = whole.map((bin): [string, string] => {
    const version = execFileSync(join(bin, 'pg_dump'), ['--version'], { encoding: 'utf8' });
    return [/\d+\.\d+/.exec(version)?.[0] ?? version, bin];
  });
  return [...new Map(found)].map(([version, bin]) => ({ version, bin }));
}

const NOBODY_UID = 65_534;

/** Runs an empty server until the end of the file. Returns its URL. */
async function startInstallation(bin: string): Promise<string> {
  const dir = makeTempDir();
  const data = join(dir, 'data');
  const user = process.getuid?.() === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {}; // PostgreSQL refuses to run as root
  mkdirSync(data);
  if (user.uid) for (const path of [dir, data]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: dir, stdio: 'ignore' } as const;
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
  execFileSync(join(bin, 'initdb'), init, options);
  const port = await findFreePort();
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-c', 'unix_socket_directories=', '-F'];
  const server = spawn(join(bin, 'postgres'), args, options);
  const ended = once(server, 'exit');
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await eventually(() => query(url, 'select 1').then(() => true));
  atEnd(() => {
    server.kill('SIGINT');
    return ended;
  });
  return url;
}

/** Options of pg_dump that operators use, each of which changes its output. */
const FLAGS = [
  '',
  '--no-owner --no-privileges',
  '--inserts',
  '--column-inserts --rows-per-insert=7 --on-conflict-do-nothing',
  '--clean --if-exists',
  '--quote-all-identifiers --disable-dollar-quoting',
  '--use-set-session-authorization --disable-triggers',
  '--enable-row-security --no-comments --serializable-deferrable',
  '--schema=public --load-via-partition-root',
];

/** A task database designed by somebody else, with every kind of object that pg_dump writes besides rows. */
const LEGACY = `
  create schema app; create type app.prio as enum ('low', 'medium', 'high');
  create domain public.short as text check (length(value) < 300);
  create function public.touch() returns trigger language plpgsql as $$ begin new.updated_at = now(); return new; end $$;
  create function public.one() returns int language sql begin atomic select case when true then 1 else 2 end; end;
  create table users (id uuid primary key default gen_random_uuid(), email text unique);
  insert into users (email) select 'u' || n || '@x' from generate_series(1, 5) n;
  create table tasks (id uuid primary key default gen_random_uuid(), user_id uuid references users, title public.short not null check (length(title) >= 3),
    description text collate "C", completed boolean default false, due_date timestamptz, category text, priority app.prio default 'medium',
    created_at timestamptz default now(), updated_at timestamptz default now(), n int generated always as (length(title)) stored);
  insert into tasks (user_id, title, description, completed, due_date, category, priority)
    select (select id from users order by id limit 1), 'title; '' \\ ' || n, E'multi\\nline\\t\\r\\\\. ' || repeat('🌱', n), n % 2 = 0,
      case when n % 3 = 0 then now() end, (array['home', null, ''])[1 + n % 3], (array['low', 'medium', 'high'])[1 + n % 3]::app.prio
    from generate_series(1, 60) n;
  create trigger touch before update on tasks for each row execute function public.touch();
  create index on tasks (lower(title)); create view v as select * from tasks; create materialized view mv as select count(*) from tasks;
  create rule quiet as on delete to users do also notify users; comment on table tasks is 'it''s; a -- comment';
  alter table tasks enable row level security; create policy own on tasks using (true);
  create table parts (a int, b text) partition by list (a); create table parts1 partition of parts for values in (1); insert into parts values (1, 'x');
  create table numbers (id bigserial, i int generated always as identity, a int[]); insert into numbers (a) values ('{1,2}');
  create statistics st on user_id, category from tasks; create publication p for table tasks; select lo_from_bytea(0, 'x');
  grant select on tasks to public; alter default privileges grant select on tables to public; create aggregate total (int) (sfunc = int4pl, stype = int);`;
/** Our stores keep times in milliseconds. */
const COLUMNS = `id, user_id, title, description, completed, due_date::timestamptz(3), category, priority::text,
  created_at::timestamptz(3), updated_at::timestamptz(3)`;

const installations = findInstallations();
if (installations.length === 0) console.info('Skipped: no PostgreSQL is installed here, and PG_BINS names none.');
const dir = makeTempDir();
const stores = await runStores('dumped');

(installations.length > 0 ? describe : describe.skip).each(installations)(
  'an archive with a dump by pg_dump $version',
  ({ bin }) => {
    let earlier: Databases;
    let legacy: TestDatabase;
    beforeAll(async () => {
      const url = await startInstallation(bin);
      earlier = await earlierStores({ auth: '0004-retention', tasks: '0003-times-end' }, url);
      await fill(earlier);
      legacy = await createTestDatabase('legacy', url);
      await legacy.query(LEGACY);
    }, 120_000);

    const archive = (file: string, dumps: Record<string, string>, flags: string) => {
      const options = flags.split(' ').filter(Boolean);
      for (const [name, url] of Object.entries(dumps))
        execFileSync(join(bin, 'pg_dump'), [...options, '-f', join(dir, name), url]);
      execFileSync('tar', ['-czf', join(stores.backupsDir, file), '-C', dir, ...Object.keys(dumps)]);
      return stores.work.restore(file);
    };

    it.each(FLAGS)(
      "of a store brings all of it back, and of another service's database its tasks (%s)",
      async (flags) => {
        await stores.tasks.query('truncate tasks');
        const { url } = earlier.tasks;
        const restored = await archive('store.tar.gz', { 'database.sql': url }, flags);
        expect(restored).toMatchObject({ outcome: 'RESTORED', dropped: [] });
        expect((await rowsOf(stores)).tasks).toEqual((await rowsOf(earlier)).tasks);
        await stores.tasks.query('truncate tasks');
        const { outcome, message, dropped } = await archive('legacy.tar.gz', { 'database.sql': legacy.url }, flags);
        expect([outcome, message]).toEqual(['RESTORED', expect.any(String)]);
        expect(dropped).toContain('tasks.users');
        const rows = (database: TestDatabase) => database.query(`select ${COLUMNS} from tasks order by id`);
        expect(await rows(stores.tasks)).toEqual(await rows(legacy));
      },
    );
  },
);
