import { dumpDatabase, openSnapshot } from '@taskmesh/pg-rows';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archivedRows } from '../src/archives/make-archive.ts';
import { connectAdmin } from '../src/databases/connect.ts';
import { readSchemaVersion, type StoreName } from '../src/databases/store.ts';
import { withClient } from './support/with-client.ts';

let dir: string;
let path: string;
let store: TestDatabase;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-dump-'));
  path = join(dir, 'database.sql');
  store = await createTestDatabase('dump');
});
afterAll(async () => {
  await store.drop();
  await rm(dir, { recursive: true });
});

async function dump(name: StoreName) {
  await rm(path, { force: true });
  const snapshot = await openSnapshot(await connectAdmin(store.url, { timeoutMs: 0 })); // as archives are made
  const dumped = snapshot.read((client) => dumpDatabase({ client, path, rowsOf: archivedRows(name) }));
  return dumped.finally(() => snapshot.close());
}

describe('the dump of a store', () => {
  it('leaves out what lets somebody in: sessions, tokens and the key of cursors', async () => {
    await store.query(`
      create table accounts (id int primary key);
      create table sessions (id text primary key, account int references accounts);
      create table refresh_tokens (hash text); create table reset_tokens (hash text); create table ended_sessions (id text);
      create table email_tokens (hash text); create table personal_tokens (hash text);
      create table pending_sign_ins (hash text); create table sign_in_codes (hash text);
      insert into accounts values (1);
      insert into sessions values ('secret-1', 1); insert into refresh_tokens values ('secret-2');
      insert into reset_tokens values ('secret-3'); insert into ended_sessions values ('secret-4');
      insert into email_tokens values ('secret-5'); insert into personal_tokens values ('secret-6');
      insert into pending_sign_ins values ('secret-7'); insert into sign_in_codes values ('secret-8')`);
    const none = {
      sessions: 0,
      refresh_tokens: 0,
      reset_tokens: 0,
      ended_sessions: 0,
      email_tokens: 0,
      personal_tokens: 0,
      pending_sign_ins: 0,
      sign_in_codes: 0,
    };
    expect((await dump('auth')).rows).toEqual({ accounts: 1, ...none });
    const text = await readFile(path, 'utf8');
    expect(text).toContain('CREATE TABLE public.refresh_tokens');
    expect(text).not.toContain('secret-');
  });

  it('writes another key of cursors than the live one', async () => {
    await store.query(
      `create table feed_state (epoch int not null, cursor_key bytea not null); insert into feed_state values (5, '\\xdeadbeef')`,
    );
    expect((await dump('tasks')).rows).toMatchObject({ feed_state: 1 });
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain('deadbeef');
    expect(text).toMatch(/\nCOPY public\.feed_state \(epoch, cursor_key\) FROM stdin;\n5\t\\\\x[0-9a-f]{64}\n\\\.\n/);
  });

  it('has the version of its newest migration', async () => {
    expect(await withClient(store.url, readSchemaVersion)).toBeNull();
    await store.query(
      `create table mikro_orm_migrations (id serial primary key, name text); insert into mikro_orm_migrations (name) values ('0001-a'), ('0002-b')`,
    );
    expect(await withClient(store.url, readSchemaVersion)).toBe('0002-b');
  });
});
