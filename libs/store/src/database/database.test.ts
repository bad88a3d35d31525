import { defineEntity, p } from '@mikro-orm/core';
import { createTestDatabase } from '@taskmesh/testing';
import { openDatabase } from '../../tests/open-database.ts';

const Named = defineEntity({ name: 'Named', properties: { name: p.text().primary() } });

const store = await createTestDatabase('database');

it('closes its connections, whether or not the ORM has used them', async () => {
  for (const usesOrm of [false, true]) {
    const database = await openDatabase(store.url);
    expect(await database.run('read', { name: 'one', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
    if (usesOrm) await database.retry((em) => em.getConnection().execute('select 1'));
    expect(database.pool.totalCount).toBe(1);
    await database.close();
    expect([usesOrm, database.pool.ended, database.pool.totalCount]).toEqual([usesOrm, true, 0]);
    await database.close(); // closing it again is harmless
  }
});

it('closes in time while a connection is being opened, and completes its statement', async () => {
  const database = await openDatabase(store.url, { name: 'opening' });
  const run = (sql: string) => database.retry((em) => em.getConnection().execute(sql));
  await run('select 1');
  const both = ['one', 'two'].map((name) => run(`select '${name}' as name, pg_sleep(0)`));
  while (database.pool.totalCount < 2) await new Promise(setImmediate);
  void database.close();
  await database.close(); // both calls resolve when the connections have ended
  expect(database.pool.totalCount).toBe(0);
  expect((await Promise.all(both)).flat()).toMatchObject([{ name: 'one' }, { name: 'two' }]);
  await expect(run('select 1')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await store.query(`select 1 from pg_stat_activity where application_name = 'taskmesh-opening'`)).toEqual([]);
}, 20_000);

/** Opens the database, and a session that holds this lock until it is closed. */
async function openHeld(lock: number) {
  const database = await openDatabase(store.url);
  const holder = await database.openSession();
  await holder.run({ name: 'hold', text: `select pg_advisory_lock(${lock})` });
  return { database, holder };
}

it('runs one long statement of an owner at a time, with room for short ones, also behind another long one, and for other owners', async () => {
  const { database, holder } = await openHeld(1);
  const ended: string[] = [];
  const run = async (owner: string, text: string, longFor?: string) => {
    await database.run('read', { name: text, text }, [], owner, longFor);
    ended.push(`${owner}: ${text}`);
  };
  const long = 'select pg_advisory_xact_lock(1)';
  const first = run('ada', long, 'network');
  await run('ada', 'select 1');
  const second = run('ada', 'select 2', 'network');
  await run('ada', 'select 4');
  await run('bob', 'select 3');
  await holder.close();
  await Promise.all([first, second]);
  expect(ended).toEqual(['ada: select 1', 'ada: select 4', 'bob: select 3', `ada: ${long}`, 'ada: select 2']);
});

it('refuses long statements of an owner at once beyond one that runs and eleven that wait', async () => {
  const { database, holder } = await openHeld(5);
  const long = { name: 'long', text: 'select pg_advisory_xact_lock(5)' };
  const run = (owner: string) => database.run('read', long, [], owner, 'network').then(() => owner, String);
  const all = Array.from({ length: 20 }, () => run('ada'));
  const ofBob = run('bob');
  const refused = await Promise.all(all.slice(12));
  await holder.close();
  expect(new Set(refused)).toEqual(new Set([expect.stringContaining('Earlier requests are still running')]));
  expect(await Promise.all([...all.slice(0, 12), ofBob])).toEqual([...Array.from({ length: 12 }, () => 'ada'), 'bob']);
}, 20_000);

it('runs the long statements of all owners on half of the connections, and those of networks in turns', async () => {
  const { database, holder } = await openHeld(2);
  const long = { name: 'long', text: 'select pg_advisory_xact_lock(2), pg_sleep(0.02)' }; // one after another
  const ended: string[] = [];
  const run = (owner: string, network: string) =>
    database.run('read', long, [], owner, network).finally(() => ended.push(owner));
  const all = Array.from({ length: 20 }, (_, n) => run(`bot ${n}`, '192.0.2.1'));
  all.push(run('ada', '192.0.2.2'));
  const short = await database.run('read', { name: 'short', text: 'select 1 as one' }, [], 'ada').catch(String);
  await holder.close();
  await Promise.allSettled(all);
  expect(short).toEqual([{ one: 1 }]);
  expect(ended.indexOf('ada')).toBeLessThan(15); // of 21; in the order of arrival, only four could end after it
});

it('names the rule that a rejected row breaks, but none of its values', async () => {
  const database = await openDatabase(store.url, { entities: [Named] });
  await store.query('create table named (name text primary key, constraint named_length check (length(name) < 40))');
  const insert = (name: string) => database.inTransaction((em) => em.insert(Named, { name })).catch(String);
  await insert('ada@example.com');
  const errors = [await insert('ada@example.com'), await insert(`ada@example.com${'.'.repeat(40)}`)];
  expect(errors).toEqual([expect.stringContaining('named_pkey'), expect.stringContaining('named_length')]);
  expect(errors.join('')).not.toContain('ada@example.com');
});
