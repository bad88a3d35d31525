import { atEnd, createTestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { copyPrivileges, copySettings, createDatabaseLike, renewSettings } from '../src/replacement/index.ts';
import { withClient } from './loading.ts';

const live = await createTestDatabase('live');
const [fresh, role] = [`${live.name}_fresh`, `reader_${randomBytes(4).toString('hex')}`];
await live.query(`create role ${role}`);
await withClient(live.url, (client) => createDatabaseLike(client, { name: fresh, like: live.name }));
atEnd(async () => {
  await live.query(`drop database ${fresh}`);
  await live.query(`drop owned by ${role}`);
  await live.query(`drop role ${role}`);
});
const freshUrl = Object.assign(new URL(live.url), { pathname: fresh }).href;

/** Runs the work as the superuser, or as another role, on both databases. */
const onBoth = (work: typeof copySettings, as = 'none') =>
  withClient(live.url, (from) =>
    withClient(freshUrl, async (to) => {
      for (const client of [from, to]) await client.query(`set search_path = pg_catalog; set role ${as}`);
      return work({ from, to });
    }),
  );

const stateOf = async (database: string) =>
  (
    await live.query(
      `select pg_get_userbyid(datdba) as owner, datcollate, datconnlimit, array(select acl::text from unnest(datacl) acl order by 1) as acl, shobj_description(d.oid, 'pg_database') as comment,
         array(select concat_ws(' ', setrole::regrole, setting) from pg_db_role_setting, unnest(setconfig) setting
           where setdatabase = d.oid order by 1) as settings
       from pg_database d where datname = $1`,
      [database],
    )
  )[0];

it('a database becomes like the one that it is to replace, and again after that has changed', async () => {
  await live.query(`
    create table people (id int); grant select on people to ${role};
    alter database ${live.name} set work_mem = '8MB'; alter role ${role} in database ${live.name} set work_mem = '9MB';
    alter database ${live.name} connection limit 77; comment on database ${live.name} is 'it''s ours';
    grant create on database ${live.name} to ${role}; grant create on schema public to ${role}`);
  expect(await onBoth(copyPrivileges)).toEqual([]);
  await withClient(freshUrl, (client) => client.query('create table people (id int)'));
  expect(await onBoth(copySettings)).toEqual([]);
  expect(await stateOf(fresh)).toEqual(await stateOf(live.name));
  const mayRead = async () =>
    withClient(freshUrl, async (client) => {
      const text = `select has_table_privilege('${role}', 'people', 'select') as rows, has_schema_privilege('${role}', 'public', 'create') as tables`;
      return (await client.query(text)).rows[0];
    });
  expect(await mayRead()).toEqual({ rows: true, tables: true });

  await live.query(`
    alter database ${live.name} reset all; comment on database ${live.name} is null; revoke select on people from ${role};
    revoke create on database ${live.name} from ${role}; revoke create on schema public from ${role}`);
  expect(await onBoth(renewSettings)).toEqual([]);
  expect(await stateOf(fresh)).toEqual(await stateOf(live.name));
  expect(await mayRead()).toEqual({ rows: false, tables: false });
});

it('says what a role may not do, without the values', async () => {
  await live.query(
    `alter database ${live.name} set app.key = 'the secret'; grant connect on database ${live.name} to ${role}`,
  );
  const refused = await onBoth(copySettings, role);
  expect(refused).toContainEqual(
    expect.stringMatching(/^alter database ".*_fresh" set "app"\."key" to …: must be owner of/),
  );
  expect(JSON.stringify(refused)).not.toContain('secret');
});
