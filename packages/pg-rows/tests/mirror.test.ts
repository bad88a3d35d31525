import { connectClient, createTestDatabase } from '@taskmesh/testing';
import { compareRows, copyRows, countRows, mirrorRows, type MirroredTable, type Session } from '../src/mirror/index.ts';

const TABLES = `
  create schema app;
  create table app.owners (id uuid primary key, name text);
  create table app.notes (id bigint primary key, owner uuid, text text)`;
const [KNOWN, UNKNOWN] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
const owners = { schema: 'app', name: 'owners', key: 'id', keyType: 'uuid' } as const;
const notes: MirroredTable = { schema: 'app', name: 'notes', key: 'id', keyType: 'bigint' };
/** More than a batch of each kind. */
const MANY = 12_000;

async function createDatabases() {
  const open = async (name: string) => {
    const { url, query } = await createTestDatabase(name);
    await query(TABLES);
    const client = await connectClient(url, 'set search_path = pg_catalog, pg_temp');
    const session: Session = { run: async (sql, values) => (await client.query(sql, values)).rows };
    return { query, session, rows: (columns = '*') => query(`select ${columns} from app.notes order by id`) };
  };
  const [source, target] = [await open('source'), await open('target')];
  const databases = { from: source.session, to: target.session };
  const mirror = async (table: MirroredTable) => {
    await target.session.run('begin');
    await mirrorRows(databases, table);
    await target.session.run('commit');
  };
  return { source, target, databases, mirror };
}

describe('rows of two databases', () => {
  it('are equal after mirroring, which writes only rows that differ', async () => {
    const { source, target, databases, mirror } = await createDatabases();
    await source.query(`insert into app.notes select n, null, 'note ' || n from generate_series(1, ${MANY}) n`);
    await mirror(notes);
    expect(await target.rows()).toEqual(await source.rows());
    await source.query(`
      delete from app.notes where id = 1; update app.notes set text = 'new' where id = 2;
      insert into app.notes values (-3, null, null)`);
    await target.query(`insert into app.notes values (${MANY} + 1, null, 'of the target')`);
    const before = await target.rows('id, xmin');
    await mirror(notes);
    expect(await target.rows()).toEqual(await source.rows());
    const untouched = new Set(before.map((row) => JSON.stringify(row)));
    const written = (await target.rows('id, xmin')).filter((row) => !untouched.has(JSON.stringify(row)));
    expect(written.map(({ id }) => id)).toEqual(['-3', '2']);
    expect(await countRows(databases.to, notes)).toBe(MANY);
  });

  it('are equal as the hashes of their types have it, and may be mirrored twice in a transaction', async () => {
    const { source, target, databases } = await createDatabases();
    for (const [{ query }, number] of [
      [source, '1.0'],
      [target, '1.00'],
    ] as const)
      await query(`alter table app.notes add number numeric; insert into app.notes values (1, null, null, ${number})`);
    await target.session.run('begin');
    await mirrorRows(databases, notes);
    expect(await databases.to.run('select number from app.notes')).toEqual([{ number: '1.00' }]);
    for (const text of ['one', 'two']) {
      await source.query(`update app.notes set text = '${text}', number = 2`);
      await mirrorRows(databases, notes);
      expect(await databases.to.run('select text from app.notes')).toEqual([{ text }]);
    }
    await target.session.run('commit');
    await source.query('alter table app.notes add data json');
    await expect(mirrorRows({ from: databases.from, to: databases.from }, notes)).rejects.toThrow('hash function');
  });

  it('are copied only with their owner, and the keys of others are reported', async () => {
    const { source, target, mirror } = await createDatabases();
    await target.query(`insert into app.owners values ('${KNOWN}')`);
    await source.query(`insert into app.notes values (1, '${KNOWN}'), (2, '${UNKNOWN}'), (3, null)`);
    const orphans: string[] = [];
    const onOrphans = async (keys: string) => void orphans.push(keys);
    await mirror({ ...notes, owner: { column: 'owner', table: 'owners' }, onOrphans });
    expect((await target.rows()).map(({ id }) => id)).toEqual(['1', '3']);
    expect(orphans).toEqual(['{2}']);
  });

  it('are copied after a key, and compared by id', async () => {
    const { source, target, databases } = await createDatabases();
    const id = (n: string) => `('00000000-0000-4000-8000-' || lpad(${n}::text, 12, '0'))::uuid`;
    await source.query(`insert into app.owners select ${id('n')}, 'x' from generate_series(1, ${MANY}) n`);
    const put = 'insert into app.owners select id, $2::text from batch';
    const after = `00000000-0000-4000-8000-${'2'.padStart(12, '0')}`;
    await copyRows(databases, { ...owners, put }, { after, values: ['copied'] });
    await target.query(`insert into app.owners values ('${KNOWN}', 'copied')`);
    const gone: string[] = [];
    const difference = await compareRows(databases, owners, async (ids) => void gone.push(...ids));
    expect(difference).toEqual({ now: MANY, after: MANY - 1, gone: 2, back: 1 });
    expect(gone.map((each) => each.slice(-2))).toEqual(['01', '02']);
    expect(await target.query('select distinct name from app.owners')).toEqual([{ name: 'copied' }]);
  });
});
