import { defineEntity, p } from '@mikro-orm/core';
import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import { createDatabase } from './database.ts';

const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary() } });
const Named = defineEntity({ name: 'Named', properties: { name: p.text().primary() } });

it('ends its connections when it is closed, whether or not the ORM has used them', async () => {
  const store = await createTestDatabase('closing');
  const log = createLog({ service: 'closing', level: 'silent' });
  try {
    for (const usesOrm of [false, true]) {
      const database = await createDatabase({
        name: 'closing',
        url: store.url,
        entities: [Thing],
        migrations: [],
        log,
      });
      const statement = { name: 'one', text: 'select 1 as one' };
      expect(await database.run('read', statement, [])).toEqual([{ one: 1 }]);
      if (usesOrm) await database.retry((em) => em.getConnection().execute('select 1'));
      expect(database.pool.totalCount).toBe(1);
      await database.close();
      expect([usesOrm, database.pool.ended, database.pool.totalCount]).toEqual([usesOrm, true, 0]);
      await database.close(); // once more is harmless
    }
  } finally {
    await store.drop();
  }
});

it('closes in time while a connection is being opened, and lets its statement end', async () => {
  const store = await createTestDatabase('opening');
  const log = createLog({ service: 'opening', level: 'silent' });
  try {
    const database = await createDatabase({ name: 'opening', url: store.url, entities: [Thing], migrations: [], log });
    await database.retry((em) => em.getConnection().execute('select 1'));
    const both = ['one', 'two'].map((name) =>
      database.retry((em) => em.getConnection().execute(`select '${name}' as name, pg_sleep(0)`)),
    );
    while (database.pool.totalCount < 2) await new Promise(setImmediate);
    void database.close();
    await database.close(); // both when the connections have ended
    expect(database.pool.totalCount).toBe(0);
    expect((await Promise.all(both)).flat()).toMatchObject([{ name: 'one' }, { name: 'two' }]);
    const later = database.retry((em) => em.getConnection().execute('select 1'));
    await expect(later).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await store.query(`select 1 from pg_stat_activity where application_name = 'taskmesh-opening'`)).toEqual([]);
  } finally {
    await store.drop();
  }
}, 20_000);

it('names the rule that a rejected row breaks, and none of its values', async () => {
  const store = await createTestDatabase('refusals');
  const database = await createDatabase({
    ...{ name: 'refusals', url: store.url, entities: [Named], migrations: [] },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  try {
    await store.query('create table named (name text primary key, constraint named_length check (length(name) < 40))');
    const refused = (name: string) => database.inTransaction((em) => em.insert(Named, { name })).catch(String);
    await database.inTransaction((em) => em.insert(Named, { name: 'ada@example.com' }));
    const errors = [await refused('ada@example.com'), await refused(`ada@example.com${'.'.repeat(40)}`)];
    expect(errors).toEqual([expect.stringContaining('named_pkey'), expect.stringContaining('named_length')]);
    expect(errors.join('')).not.toContain('ada@example.com');
  } finally {
    await database.close();
    await store.drop();
  }
});

it('keeps plans and disables JIT, independent of the settings of the server', async () => {
  const store = await createTestDatabase('settings');
  const database = await createDatabase({
    ...{ name: 'settings', url: store.url, entities: [Thing], migrations: [], poolSize: 1 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  const settings = `select current_setting('jit') as jit, current_setting('enable_seqscan') as scans`;
  try {
    for (const setting of ['jit', 'enable_seqscan'])
      await store.query(`alter database ${new URL(store.url).pathname.slice(1)} set ${setting} = on`);
    expect((await database.pool.query(settings)).rows).toEqual([{ jit: 'off', scans: 'off' }]);
    const session = await database.openSession();
    expect(await session.run({ name: 'settings', text: settings })).toEqual([{ jit: 'off', scans: 'off' }]);
    await session.close();
  } finally {
    await database.close();
    await store.drop();
  }
});
