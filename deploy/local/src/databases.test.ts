import { query, requiredAddress } from '@taskmesh/testing';
import { databaseUrl, ensureDatabases, describeMissingRights, withPostgres } from './databases.ts';

const server = requiredAddress('POSTGRES_URL');
const role = `rights_${process.pid}`;

const may = (rights: string) => query(server, `alter role ${role} ${rights}`);
const url = () => Object.assign(new URL(server), { username: role, password: 'secret' }).href;

beforeAll(() => query(server, `create role ${role} login password 'secret'`));
afterAll(() => query(server, `drop role ${role}`));

describe('the user of the server', () => {
  it('who may not create databases gets a clear message with the solution', async () => {
    await may('nocreatedb');
    const refusal = `^PlainError: The user of POSTGRES_URL may not create .*${role}_a\\. .*: alter role "${role}" createdb;$`;
    expect(await ensureDatabases(url(), [`${role}_a`]).catch(String)).toMatch(new RegExp(refusal));
  });

  it('who may only create databases learns which other privileges restores need', async () => {
    await may('createdb nocreaterole');
    const [reason = '', ...others] = await describeMissingRights(url(), {});
    expect(reason).toMatch(new RegExp(`^The user of POSTGRES_URL .*: alter role "${role}" createrole;$`));
    expect(reason).not.toContain('secret');
    expect(others).toEqual([]);
  });

  it('is not checked if other users administrate the stores, who are checked instead', async () => {
    await may('nocreatedb nocreaterole');
    expect(await describeMissingRights(url(), { TASKS_ADMIN_URL: server, AUTH_ADMIN_URL: server })).toEqual([]);
    expect(await describeMissingRights(server, { AUTH_ADMIN_URL: url() })).toEqual([
      expect.stringMatching(/^The user of AUTH_ADMIN_URL .* createdb createrole;$/),
    ]);
  });

  it('who may create databases and roles, is a superuser, or is rejected, gets no message here', async () => {
    await may('createdb createrole');
    const rejected = { TASKS_ADMIN_URL: 'postgres://stranger:x@127.0.0.1:1/none' };
    expect(await describeMissingRights(url(), {})).toEqual([]);
    for (const env of [{}, rejected]) expect(await describeMissingRights(server, env)).toEqual([]);
  });
});

it('creates missing databases, even in parallel, closed to other users, and keeps existing ones', async () => {
  const names = [`${role}_one`, `${role} two words`];
  await Promise.all([1, 2, 3].map(() => ensureDatabases(server, names)));
  const second = databaseUrl(server, `${role} two words`);
  await query(second, 'create table kept (id int)');
  await ensureDatabases(server, names);
  expect(await query(second, 'table kept')).toEqual([]);
  const open = "select has_database_privilege('public', current_database(), 'connect') as open";
  expect(await query(second, open)).toEqual([{ open: false }]);
  for (const name of names) await query(server, `drop database "${name}"`);
});

it('does not wait for a server that has stopped responding', async () => {
  const asked = withPostgres(server, (own) => own.query('select pg_sleep(60)'), 200);
  await expect(asked).rejects.toThrow('Query read timeout');
}, 10_000);
