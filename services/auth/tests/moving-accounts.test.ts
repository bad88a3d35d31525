import { createTestDatabase, eventually } from '@taskmesh/testing';
import { hash } from 'bcrypt';
import { readFileSync } from 'node:fs';
import { codeOf } from './support/operations.ts';
import { swap } from './support/restored.ts';
import { PASSWORD, runAuth } from './support/running-auth.ts';

const statementFor = (system: string) =>
  readFileSync(new URL(`../../../docs/examples/accounts/${system}.sql`, import.meta.url), 'utf8');

const SUPABASE_USERS = `
  create schema auth;
  create table auth.users (
    id uuid, email varchar(255), encrypted_password varchar(255), email_confirmed_at timestamptz, deleted_at timestamptz,
    banned_until timestamptz, raw_user_meta_data jsonb, created_at timestamptz, updated_at timestamptz
  );
  insert into auth.users values
    (gen_random_uuid(), 'Ada@Example.com', 'BCRYPT', now(), null, null, '{"name": "Ada"}', now(), null),
    (gen_random_uuid(), 'bob@example.com', null, null, null, now(), '{"name": "\\u000b\\u00a0\\u200b\\ufeff"}', now(), now()),
    (gen_random_uuid(), 'cy@example.com', null, null, null, null, jsonb_build_object('name', repeat('c', 300)), now(), now()),
    (gen_random_uuid(), 'dan@example.com', null, null, null, now() + '1 day', '{}', now(), now())`;

const DJANGO_USERS = `
  create table auth_user (
    id serial, password varchar(128), username varchar(150), first_name varchar(150), last_name varchar(150),
    email varchar(254), is_active boolean, date_joined timestamptz
  );
  insert into auth_user (password, username, first_name, last_name, email, is_active, date_joined) values
    ('bcrypt$BCRYPT', 'ada', 'Ada', '', 'Ada@Example.com', true, now()),
    ('pbkdf2_sha256$870000$c2FsdA$aGFzaA=', 'bob', E'\\u000b\\u00a0', E'\\u3000\\u200b', 'bob@example.com', true, now()),
    ('!', 'cy', repeat('c', 150), repeat('c', 150), 'cy@example.com', true, now())`;

it.each([
  ['supabase', SUPABASE_USERS, '$2a$'],
  ['django', DJANGO_USERS, '$2b$'],
])('moves the accounts of %s as the guide describes, with bcrypt passwords', async (system, users, variant) => {
  const running = await runAuth({ env: { RATE_LIMIT_FACTOR: '0' } });
  const other = await createTestDatabase('auth_moved');
  const bcrypt = (await hash(PASSWORD, 10)).replace('$2b$', () => variant);
  await other.query(users.replace('BCRYPT', () => bcrypt));
  await other.query(statementFor(system));
  // Supabase serves what is in public to everybody, but for tables with row level security.
  const secured = await other.query(`select relrowsecurity as is from pg_class where oid = 'accounts'::regclass`);
  expect(secured).toEqual([{ is: system === 'supabase' }]);
  // The table as backup's loader leaves it.
  await other.query('create schema restored; alter table accounts set schema restored');
  expect(await running.auth.restore.importDatabase(other.name)).toMatchObject({
    complete: true,
    rows: { accounts: 3 },
  });
  await swap(running, other.name);

  await running.logIn('ada@example.com');
  const accounts = 'select email, name, has_password, left(password_hash, 9) as kind from accounts order by email';
  await eventually(async () =>
    expect(await running.database.query(accounts)).toEqual([
      { email: 'Ada@Example.com', name: 'Ada', has_password: true, kind: '$argon2id' },
      { email: 'bob@example.com', name: 'bob', has_password: false, kind: '$argon2id' },
      { email: 'cy@example.com', name: expect.stringMatching(/^c[c ]{254}$/), has_password: false, kind: '$argon2id' },
    ]),
  );
  await running.logIn('ada@example.com');
  const bob = await running.tryLogIn('bob@example.com');
  expect(codeOf(bob)).toBe('UNAUTHENTICATED');
});
