import { jest } from '@jest/globals';
import { createTestDatabase, eventually, nodeEnvironment, type TestDatabase } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCaller, spawnAuth, type AuthProcess } from './support/auth-process.ts';

jest.setTimeout(120_000);

let dir: string;
let database: TestDatabase;
let running: AuthProcess[];
let env: Record<string, string>;

beforeEach(async () => {
  running = [];
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-auth-schema-'));
  database = await createTestDatabase('auth_schema');
  const { keysFile } = await createCaller(dir);
  env = { POSTGRES_URL: database.url, DATA_DIR: dir, IDENTITY_PUBLIC_KEYS_FILE: keysFile };
});
afterEach(async () => {
  for (const auth of running) await auth.stop();
  await database.drop();
  await rm(dir, { recursive: true });
});

const start = (more: Record<string, string> = {}) => {
  const auth = spawnAuth({ ...env, ...more });
  running.push(auth);
  return auth;
};

/** The migration process' output and exit code. */
const migrate = (more: Record<string, string> = {}) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const main = join(import.meta.dirname, '../migrations/main.ts');
    execFile(process.execPath, [main], { env: { ...nodeEnvironment(), ...env, ...more } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, said: out + err }),
    );
  });

const health = async (auth: AuthProcess) => {
  const response = await fetch(`${await auth.adminUrl()}/readyz?verbose`);
  return { status: response.status, checks: ((await response.json()) as { checks: unknown }).checks };
};
const aNewerVersionWasHere = () =>
  database.query(`insert into mikro_orm_migrations (name, executed_at) values ('9999-from-tomorrow', now())`);

describe('auth that is set not to migrate', () => {
  it('lives, but is unready and serves no one until the schema is up to date', async () => {
    const auth = start({ MIGRATE_AT_START: 'false' });
    await eventually(() => expect(auth.output()).toContain('it has to be migrated'), { timeoutMs: 60_000 });
    expect(await health(auth)).toMatchObject({
      status: 503,
      checks: { database: true, schema: false, started: false },
    });
    expect((await fetch(`${await auth.adminUrl()}/livez`)).status).toBe(200);
    expect(auth.output()).not.toContain('"msg":"listening"');
    expect(await database.query(`select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);

    expect(await migrate()).toMatchObject({ code: 0 });
    await auth.url();
    await eventually(async () => expect(await health(auth)).toMatchObject({ status: 200, checks: { schema: true } }));
  });

  it('stops cleanly while it waits', async () => {
    const auth = start({ MIGRATE_AT_START: 'false' });
    await eventually(() => expect(auth.output()).toContain('it has to be migrated'), { timeoutMs: 60_000 });
    expect(await auth.stop()).toEqual({ code: 0, signal: null });
  });

  it('says that the schema is of a newer version, and stays unready', async () => {
    await migrate();
    await aNewerVersionWasHere();
    const auth = start({ MIGRATE_AT_START: 'false' });
    await eventually(() => expect(auth.output()).toContain('of a newer version, with 9999-from-tomorrow'), {
      timeoutMs: 60_000,
    });
    expect(await health(auth)).toMatchObject({ status: 503, checks: { schema: false } });

    const back = start({ MIGRATE_AT_START: 'false', NEWER_SCHEMA: 'allow' });
    await back.url();
    await eventually(async () => expect(await health(back)).toMatchObject({ status: 200 }));
  });
});

it('a running auth goes on when a newer version migrates beside it', async () => {
  const auth = start();
  await auth.url();
  await aNewerVersionWasHere();
  expect(await health(auth)).toMatchObject({ status: 200 });
});

describe('the process that migrates', () => {
  it('can run again and again, and several at once', async () => {
    const ended = await Promise.all([migrate(), migrate(), migrate()]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await migrate()).toMatchObject({ code: 0 });
  });

  it('fails on the schema of a newer version, a server that refuses us, and settings that make no sense', async () => {
    await migrate();
    await aNewerVersionWasHere();
    expect(await migrate()).toMatchObject({ code: 1, said: expect.stringContaining('NEWER_SCHEMA=allow') });
    const wrong = new URL(database.url);
    wrong.password = 'wrong-password';
    const refused = await migrate({ POSTGRES_URL: wrong.href });
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('POSTGRES_URL') });
    expect(refused.said).not.toContain('wrong-password');
    expect(await migrate({ POSTGRES_URL: 'mysql://x' })).toMatchObject({ code: 1 });
  });

  it('fails, and leaves nothing half done, when a migration does', async () => {
    await database.query('create table sessions (id int)');
    expect(await migrate()).toMatchObject({ code: 1 });
    expect(await database.query('select name from mikro_orm_migrations')).toEqual([]);
    expect(await database.query(`select 1 from pg_tables where tablename = 'accounts'`)).toEqual([]);
  });
});
