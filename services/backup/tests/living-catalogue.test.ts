import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { createFreshDatabase, dropFresh } from '../src/databases/fresh-database.ts';
import { restoreNames } from '../src/databases/names.ts';
import { loadLimits } from '../src/restore/watch-database.ts';
import { bothStores, createBackupFixture, restoreWith, tasksDump } from './support/backup-fixture.ts';
import { catalogueOf } from './support/catalogue.ts';
import { createOwners } from './support/store-owners.ts';

const fixture = await createBackupFixture('catalogue');
afterEach(async () => expect(await fixture.leftovers()).toEqual([]));

const restored = { success: true, outcome: 'RESTORED' };

describe('an operator’s settings for a store', () => {
  const role = `test_reporter_${randomBytes(4).toString('hex')}`;
  beforeAll(async () => {
    const live = fixture.tasks.name;
    await fixture.tasks.query(`create role ${role}`);
    await fixture.tasks.query(`
      alter database ${live} set statement_timeout = '50s';
      alter database ${live} set search_path = "$user", public, "Odd, ""name""";
      alter database ${live} set datestyle = 'ISO, DMY';
      alter database ${live} set app.mode = 'it''s "odd", \\';
      alter role ${role} in database ${live} set work_mem = '8MB';
      alter database ${live} connection limit 77;
      comment on database ${live} is 'the store; it''s ours';
      revoke temporary on database ${live} from public;
      grant create on database ${live} to ${role} with grant option;
      grant usage on schema public to ${role};
      grant select on tasks to ${role};
      grant update (title) on tasks to ${role} with grant option;
      alter default privileges in schema public grant select on tables to ${role};`);
  });
  afterAll(async () => {
    await fixture.tasks.query(`drop owned by ${role}`);
    await fixture.tasks.query(`drop role ${role}`);
  });

  it('are the same after a restore of any dump', async () => {
    const before = await catalogueOf(fixture.tasks);
    expect(JSON.stringify(before)).toContain('77');
    const live = fixture.tasks.name;
    await fixture.archive('passed-over.tar.gz', {
      // load/hostile-statements.ts has many more.
      'database.sql': `
        create table public.pg_database (datname text, datdba int, oid int); insert into public.pg_database values ('${live}', 16384, 1);
        create function public.pg_get_userbyid(oid) returns name language sql as $$ select 'mallory'::name $$;
        ${tasksDump(['passed over'])} create rule r as on insert to tasks do instead nothing;
        grant all on schema public to public; grant all on tasks to public; alter default privileges grant all on tables to public;
        comment on database ${live} is 'mine'; create extension citext;`,
    });
    expect(await fixture.restore('passed-over.tar.gz')).toMatchObject(restored);
    expect(await catalogueOf(fixture.tasks)).toEqual(before);
    expect(await fixture.tasks.query('select title from tasks')).toEqual([{ title: 'passed over' }]);
  });
});

describe('a store with tables named like system catalogues', () => {
  it('is restored like any other', async () => {
    const stores = [fixture.tasks, fixture.auth];
    for (const { name, query } of stores) {
      await query('create table public.pg_class (n int); create table public.pg_database (n int)');
      await query('create table public.pg_settings (n int); create table public.pg_default_acl (n int)');
      await query(`alter database ${name} set search_path = public, pg_catalog`);
    }
    await fixture.archive('own.tar.gz', bothStores('two'));
    expect(await fixture.restore('own.tar.gz')).toMatchObject(restored);
    expect(await fixture.inStores()).toEqual(['two', 'two@x']);
    for (const { name, query } of stores) await query(`alter database ${name} reset search_path`);
  });
});

/** Lets the creation of a database crash before each of its statements, and removes what is there. */
async function removesAfterAnyCrash(adminUrl: string) {
  const names = restoreNames(fixture.tasks.name, 'crash');
  const query = Client.prototype.query as (this: Client, ...values: unknown[]) => unknown;
  let isComplete = false;
  for (let statements = 1; !isComplete; statements++) {
    let left = statements;
    const crashing = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...values) {
      if (this.user === new URL(adminUrl).username && left-- === 0) throw new Error('crashed');
      return query.apply(this, values) as void;
    });
    const creating = createFreshDatabase(adminUrl, names, loadLimits(DEFAULT_SIZES));
    isComplete = await creating.then(() => true, () => false); // prettier-ignore
    crashing.mockRestore();
    await dropFresh(adminUrl, names);
  }
  expect(await fixture.leftovers()).toEqual([]);
}

describe('an administrator who is not a superuser', () => {
  it('needs permission to create databases and roles, and membership in the owner', async () => {
    const [admin, owner] = ['admin', 'owner'].map((name) => `test_${name}_${randomBytes(4).toString('hex')}`) as [
      string,
      string,
    ];
    const live = fixture.tasks.name;
    // Only superusers may set a setting that no module defines.
    await fixture.tasks.query(`alter database ${live} set app.mode = 'it''s a "secret", \\'`);
    await fixture.tasks.query(`create role ${owner} login password 'secret'`);
    await fixture.tasks.query(
      `create role ${admin} login password 'secret' createdb createrole; grant ${owner} to ${admin}`,
    );
    await fixture.tasks.query(`alter database ${live} owner to ${owner}; grant all on schema public to ${owner}`);
    await fixture.tasks.query(`alter table tasks owner to ${owner}; alter table feed_state owner to ${owner}`);
    const as = (role: string) => {
      const url = new URL(fixture.tasks.url);
      [url.username, url.password] = [role, 'secret'];
      return url.href;
    };
    const adminUrls = { ...fixture.config.secrets.adminUrls, tasks: as(admin) };
    const owners = createOwners({ tasks: as(owner), auth: fixture.auth.url });
    const other = await fixture.startOther({ secrets: { adminUrls }, owners });
    const { logged } = other;
    try {
      await fixture.archive('unprivileged.tar.gz', { 'database.sql': tasksDump(['by hand']) });
      const before = await catalogueOf(fixture.tasks);
      expect(await restoreWith(other, 'unprivileged.tar.gz')).toMatchObject(restored);
      expect(logged.filter(({ err }) => err)).toEqual([]);
      expect(logged.filter(({ refused }) => refused)).toMatchObject([
        { refused: [expect.stringMatching(/^alter database .* set "app"."mode" to {2}…: permission denied/)] },
      ]);
      expect(JSON.stringify(logged)).not.toContain('secret');
      await fixture.tasks.query(`alter database ${live} set app.mode = 'it''s a "secret", \\'`);
      expect(await catalogueOf(fixture.tasks)).toEqual(before);
      expect(await fixture.tasks.query('select title from tasks')).toEqual([{ title: 'by hand' }]);
      await removesAfterAnyCrash(as(admin));
    } finally {
      await other.stop();
      await fixture.tasks.query(`reassign owned by ${owner}, ${admin} to postgres; drop owned by ${owner}, ${admin}`);
      await fixture.tasks.query(`drop role ${admin}, ${owner}`);
    }
  });
});
