import { databaseOf } from '@taskmesh/store';
import { eventually } from '@taskmesh/testing';
import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';
import { createHeldSessions } from './support/held-sessions.ts';

const NOT_RESTORED = { success: true, outcome: 'PROCESSED', databaseRestored: false };
const OLD = ['old', 'old@x'];
const NEW = ['new', 'new@x'];

let fixture: BackupFixture;
const { hold, letGo } = createHeldSessions();

beforeAll(async () => {
  fixture = await createBackupFixture('swap');
  await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: accountsDump(['new@x']) }));
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.fillStores('old', 'old@x');
});
afterEach(async () => {
  await letGo();
  await eventually(async () => expect(await fixture.leftovers()).toEqual([]), { timeoutMs: 40_000 });
}, 180_000);

/** Ends the session that keeps writers out. */
const endLocker = () =>
  fixture.own.query(
    `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
     where l.mode = 'ShareLock' and l.granted and datname = $1`,
    [databaseOf(fixture.auth.url)],
  );

/** Until it is let go, a rename waits for it. */
const holdRename = () =>
  hold(fixture.own.url, 'begin', `comment on database ${databaseOf(fixture.auth.url)} is 'held'`);

/** It unpacks and loads before that. */
const untilSwapping = () =>
  eventually(
    async () => expect(await fixture.own.query(`select 1 from restores where stage = 'swapping'`)).toHaveLength(1),
    { timeoutMs: 120_000 },
  );

describe('the swap of a restore', () => {
  it('changes nothing when what kept writers out is lost: somebody may have written since', async () => {
    const holder = await holdRename();
    const writer = await hold(fixture.auth.url);
    const restoring = fixture.restore('own.tar.gz');
    await untilSwapping();
    await endLocker();
    await writer.query('insert into sessions (account) values (1)');
    await holder.query('rollback');
    expect(await restoring).toMatchObject(NOT_RESTORED);
    expect(await fixture.inStores()).toEqual(OLD);
    expect(await fixture.auth.query('select account from sessions')).toEqual([{ account: 1 }]);
  }, 180_000);

  it('ends no session when what kept writers out is lost before it', async () => {
    const reader = await hold(fixture.auth.url);
    const { carryOver } = fixture.owners.auth;
    fixture.owners.auth.carryOver = async (database) => {
      await carryOver?.(database);
      await endLocker();
    };
    expect(await fixture.restore('own.tar.gz')).toMatchObject(NOT_RESTORED);
    fixture.owners.auth.carryOver = carryOver;
    expect((await reader.query('select email from accounts')).rows).toEqual([{ email: 'old@x' }]);
    expect(await fixture.inStores()).toEqual(OLD);
  }, 180_000);

  it('that was given up for dead in the middle of the swap is settled when it is over, and not before', async () => {
    const holder = await holdRename();
    const restoring = fixture.restore('own.tar.gz');
    await untilSwapping();
    // Without it no one knows that the restore goes on.
    await fixture.own.query(
      `select pg_terminate_backend(pid) from pg_locks l join pg_database d on d.oid = l.database where locktype = 'advisory' and datname = current_database()`,
    );
    const settling = fixture.withOther({}, () => Promise.resolve());
    const waiting = `select 1 from pg_locks l join pg_database d on d.oid = l.database where datname = 'postgres' and locktype = 'advisory' and not granted
      and (classid::bigint << 32 | l.objid::bigint) = (select hashtextextended('taskmesh-restore ' || current_user || ' ' || id, 0) from restores where stage = 'swapping')`;
    await eventually(async () => expect(await fixture.own.query(waiting)).toHaveLength(1));
    await holder.query('rollback');
    expect(await restoring).toMatchObject({ outcome: expect.stringMatching(/^RESTORED/), databaseRestored: true }); // who cleans up is open
    await settling;
    expect(await fixture.inStores()).toEqual(NEW);
  }, 180_000);

  it('takes as long as it takes, whatever the operator has set for sessions in general', async () => {
    const auth = databaseOf(fixture.auth.url);
    for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout'])
      await fixture.own.query(`alter database ${auth} set ${name} = '2s'`);
    const holder = await holdRename();
    const restoring = fixture.restore('own.tar.gz');
    await untilSwapping();
    await holder.query('select pg_sleep(3)');
    await holder.query('rollback');
    expect(await restoring).toMatchObject({ outcome: 'RESTORED' });
    expect(await fixture.inStores()).toEqual(NEW);
    await fixture.own.query(`alter database ${auth} reset all`);
  }, 180_000);
});
