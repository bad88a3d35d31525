import { eventually } from '@taskmesh/testing';
import { bothStores, createBackupFixture, tasksDump } from './support/backup-fixture.ts';
import { catalogueOf } from './support/catalogue.ts';

const HOUR_MS = 60 * 60_000;
const FIRST = ['first', 'first@x'];
const ONE = ['one', 'one@x'];
const FAILED = { success: false, databaseRestored: false };

const fixture = await createBackupFixture('undo', { keepOldMs: HOUR_MS });
for (const name of ['one', 'two']) await fixture.archive(`${name}.tar.gz`, bothStores(name));
await fixture.archive('tasks.tar.gz', { 'database.sql': tasksDump(['alone']) });

beforeEach(() => fixture.fillStores('first', 'first@x'));
afterEach(async () => {
  await expire();
  expect(await fixture.leftovers()).toEqual([]);
});

async function undo(restoredAt?: unknown) {
  const fields = 'success message error databaseRestored outcome keptUntil';
  const query = `mutation ($restoredAt: DateTime) { undoRestore(restoredAt: $restoredAt) { ${fields} } }`;
  const { data, error } = await fixture.request(query, { restoredAt });
  if (error) throw new Error(JSON.stringify(error));
  return data.undoRestore as Record<'outcome' | 'message', string> & { keptUntil: string | null };
}

async function undoable({ request } = fixture.backup) {
  const query = '{ undoableRestore { file stores isUndo restoredAt keptUntil replacedKeptMs } }';
  return (await request(query)).data.undoableRestore as Record<string, unknown> | null;
}

/** Starts another instance, which does what is due. */
const startAgain = () => fixture.withOther({}, async () => undefined);

/** Ends the time for which the replaced databases are kept. */
async function expire() {
  await fixture.own.query('update restores set left_until = now() where left_until is not null');
  await startAgain();
}

/** Returns the kept databases that accept connections. */
const OPEN = 'select datname from pg_database where datallowconn and datname = any($1)';
const openOnes = async () => fixture.own.query(OPEN, [await fixture.leftovers()]);

const epoch = async () => Number((await fixture.tasks.query('select epoch from feed_state'))[0]?.epoch);

describe('the stores that a restore replaced', () => {
  it('are kept closed, and an undo brings them back with the current sessions and a new epoch; another undo reverts it', async () => {
    await fixture.auth.query('insert into sessions (account) values (1), (1)');
    const epochs = [await epoch()];
    await fixture.restore('one.tar.gz');
    const kept = await fixture.leftovers();
    expect(await fixture.own.query('select datname from pg_database where datname = any($1)', [kept])).toHaveLength(2);
    expect(await openOnes()).toEqual([]);
    await fixture.tasks.query(`insert into tasks values (gen_random_uuid(), 'since')`);
    const [ended, living] = await fixture.auth.query('select id from sessions order by id');
    await fixture.auth.query('delete from sessions where id = $1', [ended?.id]);
    epochs.push(await epoch());
    expect(await undo()).toMatchObject({ success: true, databaseRestored: true, outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(FIRST);
    expect(await fixture.auth.query('select id from sessions')).toEqual([living]);
    expect(await epoch()).toBeGreaterThan(Math.max(...epochs));
    expect(await undo()).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(['one', 'since', 'one@x']);
  }, 180_000);

  it('are described before an undo by the original archive, and the undo reports what happens to the stores that it replaces', async () => {
    const { work, operators } = fixture.backup;
    const current = async () => (await operators.status()).backups.undoable;
    expect([await undoable(), await current()]).toEqual([null, null]);
    await work.restore('one.tar.gz', undefined, { decryptedFrom: 'secret.tar.gz.age' });
    expect(await current()).toEqual(await undoable());
    const what = { file: 'secret.tar.gz.age', stores: ['tasks', 'auth'], replacedKeptMs: HOUR_MS };
    const kept = await undoable();
    expect(kept).toMatchObject({ ...what, isUndo: false });
    expect(Date.parse(String(kept?.keptUntil)) - Date.parse(String(kept?.restoredAt))).toBe(HOUR_MS);
    const { message, keptUntil } = await undo();
    const undone = `Undone: the restore of secret.tar.gz.age from ${kept?.restoredAt}.`;
    expect(message).toBe(`${undone} What the undo replaced is kept until ${keptUntil}: another undo brings it back.`);
    expect(await undoable()).toMatchObject({ ...what, isUndo: true, keptUntil });
    await fixture.withOther({ keepOldMs: 0 }, async (other) => {
      expect(await undoable(other)).toMatchObject({ replacedKeptMs: 0 });
      const reason = /^Undone: the undo of a restore of secret.tar.gz.age from .* not kept: it cannot/;
      expect(await other.work.undo()).toMatchObject({ message: expect.stringMatching(reason), keptUntil: null });
      expect(await undoable(other)).toBeNull();
    });
    const refused = { code: 'BAD_USER_INPUT' };
    for (const decryptedFrom of ['', '../x', 'a\u001b.tar.gz', 'x'])
      await expect(work.restore('one.tar.gz', undefined, { decryptedFrom })).rejects.toMatchObject(refused);
  }, 180_000);

  it('are dropped after a newer restore, stay if the undo was for an earlier restore, and are dropped when their time is over', async () => {
    await fixture.restore('one.tar.gz');
    const [seen, first] = [await undoable(), await fixture.leftovers()];
    await fixture.restore('two.tar.gz');
    await eventually(async () => expect(await fixture.leftovers()).toHaveLength(2));
    expect(await fixture.leftovers()).not.toContain(first[0]);
    const before = fixture.logged.length;
    const error = expect.stringContaining('Nothing was undone');
    expect(await undo(seen?.restoredAt)).toMatchObject({ ...FAILED, outcome: 'OTHER_RESTORE', error });
    expect(fixture.logged.slice(before).map(({ msg }) => msg)).not.toContain('undoing a restore');
    expect(await fixture.inStores()).toEqual(['two', 'two@x']);
    for (const nonsense of ['', 'yesterday', 5]) await expect(undo(nonsense)).rejects.toThrow('BAD_USER_INPUT');
    expect(await undo((await undoable())?.restoredAt)).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(ONE);
    await fixture.restore('tasks.tar.gz');
    await fixture.auth.query(`update accounts set email = 'since@x'`);
    await undo(); // of one store leaves the other unchanged
    expect(await fixture.inStores()).toEqual(['one', 'since@x']);
    await expire();
    expect(await fixture.leftovers()).toEqual([]);
    expect(await undo()).toMatchObject({ ...FAILED, outcome: 'NOTHING_TO_UNDO' });
    expect(await fixture.inStores()).toEqual(['one', 'since@x']);
  }, 180_000);

  it('survive a failed undo, and are closed again if the undo died', async () => {
    await fixture.restore('one.tar.gz');
    const { resume } = fixture.owners.auth;
    fixture.owners.auth.resume = () => Promise.reject(new Error('no luck'));
    const error = expect.stringContaining('the data are as they were');
    expect(await undo()).toMatchObject({ ...FAILED, outcome: 'FAILED', error });
    fixture.owners.auth.resume = resume;
    expect(await fixture.inStores()).toEqual(ONE);
    expect(await openOnes()).toEqual([]);
    for (const old of await fixture.leftovers())
      await fixture.own.query(`alter database ${old} allow_connections true`);
    await fixture.own.query(
      `insert into restores (id, file, stage, stores, started_at, undoes)
       select 'died', file, 'loading', stores, now(), id from restores where left_until > now()`,
    );
    await startAgain();
    expect(await openOnes()).toEqual([]);
    expect(await undo()).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(FIRST);
  }, 180_000);

  it('keep the settings, grants and revocations of the operator with any dump, and get those made since', async () => {
    const [live, role] = [fixture.tasks.name, `${fixture.tasks.name}_reader`];
    const { query } = fixture.tasks;
    await query(`
      create role ${role}; alter database ${live} set statement_timeout = '40s'; alter role ${role} in database ${live} set work_mem = '8MB';
      alter database ${live} set search_path = "$user", public, "Odd, ""name"""; alter database ${live} set datestyle = 'ISO, DMY';
      alter database ${live} set app.mode = 'it''s "odd", \\'; alter database ${live} connection limit 77; comment on database ${live} is 'it''s; ours';
      revoke temporary on database ${live} from public; grant create on database ${live} to ${role} with grant option;
      grant create on schema public to ${role}; grant select on tasks to ${role} with grant option;
      grant update (title) on tasks to ${role} with grant option;
      alter default privileges in schema public grant select on tables to ${role}`);
    const initial = await catalogueOf(fixture.tasks);
    expect(JSON.stringify(initial)).toContain('77');
    // load/hostile-statements.ts has many more.
    const dump = `
      create table public.pg_database (datname text, datdba int, oid int); insert into public.pg_database values ('${live}', 16384, 1);
      create function public.pg_get_userbyid(oid) returns name language sql as $$ select 'mallory'::name $$;
      ${tasksDump(['passed over'])} create rule r as on insert to tasks do instead nothing;
      grant all on schema public to public; grant all on tasks to public; alter default privileges grant all on tables to public;
      comment on database ${live} is 'mine'; create extension citext;`;
    await fixture.archive('passed-over.tar.gz', { 'database.sql': dump });
    expect(await fixture.restore('passed-over.tar.gz')).toMatchObject({ outcome: 'RESTORED' });
    expect(await catalogueOf(fixture.tasks)).toEqual(initial);
    expect(await fixture.inStores()).toEqual(['passed over', 'first@x']);
    await query(`
      alter database ${live} reset all; alter role ${role} in database ${live} reset all; alter database ${live} set work_mem = '9MB';
      alter database ${live} connection limit -1; comment on database ${live} is null; revoke create on database ${live} from ${role};
      revoke create on schema public from ${role}; revoke all on tasks from ${role}; grant select (title) on tasks to ${role};
      alter default privileges in schema public revoke select on tables from ${role};
      alter default privileges in schema public grant usage on sequences to ${role}`);
    const before = await catalogueOf(fixture.tasks);
    expect(await undo()).toMatchObject({ outcome: 'RESTORED' });
    expect(await catalogueOf(fixture.tasks)).toEqual(before);
    expect(await fixture.inStores()).toEqual(FIRST);
    await expire(); // the kept databases contain grants to the role, too
    await query(`alter database ${live} reset all; drop owned by ${role}; drop role ${role}`);
  }, 180_000);
});
