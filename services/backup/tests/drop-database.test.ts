import { databaseOf } from '@taskmesh/store';
import { createTestDatabase, eventually } from '@taskmesh/testing';
import { maintenanceUrl, withAdmin } from '../src/databases/connect.ts';
import { dropDatabase, createFreshDatabase, dropFresh } from '../src/databases/fresh-database.ts';
import { restoreNames } from '../src/databases/names.ts';

const exists = async (name: string, url: string) =>
  withAdmin(maintenanceUrl(url), async (admin) => {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
    return rowCount === 1;
  });

describe('dropping a database', () => {
  it('gives up while somebody holds on to it, and drops it later, also as a template', async () => {
    const { url } = await createTestDatabase('dropped');
    const name = databaseOf(url);
    const drop = () => withAdmin(maintenanceUrl(url), (admin) => dropDatabase(admin, name));
    await withAdmin(maintenanceUrl(url), async (holder) => {
      await holder.query('begin');
      await holder.query(`comment on database ${name} is 'held'`);
      await expect(drop()).rejects.toMatchObject({ code: '55P03' });
      await holder.query('rollback');
      await holder.query(`alter database ${name} is_template true`);
    });
    expect(await exists(name, url)).toBe(true);
    await drop();
    expect(await exists(name, url)).toBe(false);
    await drop();
  });
});

describe('dropping what a restore makes', () => {
  it('waits for a server that is making it still, for a client that is gone', async () => {
    const live = await createTestDatabase('making');
    const names = restoreNames(databaseOf(live.url), 'r');
    const limits = { statementTimeoutMs: 1_000, tempFileBytes: 1_048_576 };
    await withAdmin(maintenanceUrl(live.url), async (holder) => {
      await holder.query('begin');
      await holder.query(`comment on database template0 is 'held'`); // so that no copy of it can be made
      const making = createFreshDatabase(live.url, names, limits).catch((error: unknown) => error);
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'create database%${names.fresh}%'`;
      await eventually(async () => expect(await live.query(waiting)).toHaveLength(1));
      await expect(dropFresh(live.url, names)).rejects.toMatchObject({ code: '55P03' });
      await holder.query('rollback');
      await making;
    });
    await dropFresh(live.url, names);
    expect(await exists(names.fresh, live.url)).toBe(false);
    await live.drop();
  });
});
