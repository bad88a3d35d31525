import { atEnd, createTestDatabase, makeTempDir } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, '../../node_modules');

it('the examples in the README run', async () => {
  const [source, target] = [await createTestDatabase('source'), await createTestDatabase('target')];
  const dir = makeTempDir();
  await source.query(`
    create table people (id int primary key, name text, password text);
    create table sessions (id text primary key, person int references people);
    create view names as select name from people;
    insert into people values (1, 'Ada', 'secret'), (2, 'Grace', 'secret'); insert into sessions values ('s', 1);
    alter database ${source.name} connection limit 77; alter database ${source.name} set app.secret = 'it''s "odd"';
    revoke temporary on database ${source.name} from public; grant create on schema public to public;
    grant select on people to public; grant select on sessions to public`);
  atEnd(() => target.query(`drop database if exists ${source.name}_new`));
  const examples = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```js\n([^]*?)```/g);
  await writeFile(join(dir, 'example.mjs'), [...examples].map(([, code]) => code).join('\n'));
  await mkdir(join(dir, 'node_modules/@taskmesh'), { recursive: true });
  await symlink(ROOT, join(dir, 'node_modules/@taskmesh/pg-rows'));
  await symlink(join(MODULES, 'pg'), join(dir, 'node_modules/pg'));
  const env = { ...process.env, SOURCE_URL: source.url, TARGET_URL: target.url };
  const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: dir, env });
  const lines = [
    '{ people: 2, sessions: 0 }',
    "2 [ { kind: 'constraint', count: 3 } ]",
    expect.stringContaining('relation "public.sessions" does not exist'),
  ];
  expect(stdout.trim().split(/\n(?![ \]])/)).toEqual(lines);
  const settings = `
    select datconnlimit, array(select acl::text from unnest(datacl) acl order by 1) as acl, array(
      select unnest(setconfig) from pg_db_role_setting where setdatabase = d.oid order by 1) as settings
    from pg_database d where datname = $1`;
  const [wanted] = await source.query(settings, [source.name]);
  expect(wanted).toMatchObject({ datconnlimit: 77, settings: expect.arrayContaining(['app.secret=it\'s "odd"']) });
  expect(await source.query(settings, [`${source.name}_new`])).toEqual([wanted]);
  const people = ['Ada', 'Grace'].map((name, index) => ({ id: index + 1, name, password: '' }));
  expect(await target.query('select * from loaded.people order by id')).toEqual(people);
  expect(await target.query('select * from sessions')).toEqual([{ id: 's', person: 1 }]);
}, 30_000);
