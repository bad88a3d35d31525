import { createTestDatabase, makeTempDir } from '@taskmesh/testing';
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
    insert into people values (1, 'Ada', 'secret'), (2, 'Grace', 'secret'); insert into sessions values ('s', 1)`);
  const examples = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```js\n([^]*?)```/g);
  await writeFile(join(dir, 'example.mjs'), [...examples].map(([, code]) => code).join('\n'));
  await mkdir(join(dir, 'node_modules/@taskmesh'), { recursive: true });
  await symlink(ROOT, join(dir, 'node_modules/@taskmesh/pg-rows'));
  await symlink(join(MODULES, 'pg'), join(dir, 'node_modules/pg'));
  const env = { ...process.env, SOURCE_URL: source.url, TARGET_URL: target.url };
  const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: dir, env });
  expect(stdout).toBe("{ people: 2, sessions: 0 }\n2 [ { kind: 'constraint', count: 3 } ]\n");
  expect(await target.query('select * from loaded.people order by id')).toEqual([
    { id: 1, name: 'Ada', password: '' },
    { id: 2, name: 'Grace', password: '' },
  ]);
  expect(await target.query('select * from sessions')).toEqual([{ id: 's', person: 1 }]);
}, 30_000);
