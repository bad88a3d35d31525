import { databaseOf } from '@taskmesh/database';
import { createTestDatabase } from '@taskmesh/testing';
import { maintenanceUrl, withAdmin } from '../src/databases/connect.ts';
import { dropDatabase } from '../src/databases/drop-database.ts';

const exists = async (name: string, url: string) =>
  withAdmin(maintenanceUrl(url), async (admin) => {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
    return rowCount === 1;
  });

describe('dropping a database', () => {
  it('gives up while somebody holds on to it, and drops it later, also as a template', async () => {
    const { url } = await createTestDatabase('dropped');
    const name = databaseOf(url);
    const drop = () => withAdmin(maintenanceUrl(url), (admin) => dropDatabase(admin, name, 50));
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
