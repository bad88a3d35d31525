import { atEnd, createTestDatabase, eventually } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { type CrashPoint, startBackupProcess } from './support/backup-process.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { type BackupFixture, bothStores, createBackupFixture, type Restored } from './support/backup-fixture.ts';
import { asRole } from './support/databases.ts';

const OLD_EPOCH = 1;

type CrashFixture = Awaited<ReturnType<typeof createCrashFixture>>;

/** Creates two stores and an archive of both. `authServer` is the server of the auth store, if it has another one. */
async function createCrashFixture(authServer: string | undefined) {
  const fixture = await createBackupFixture('crash', { authServer });
  await fixture.backup.stop(); // it would settle the restores that the other services must settle
  await fixture.archive('own.tar.gz', bothStores('restored'));
  const load = () => startBackupProcess(fixture.config, { isWaiting: true });
  let next = load();
  return {
    ...fixture,
    /** Restores in a separate process, while the next process loads. `reported` is undefined if the process was killed. */
    async runRestore(kill?: CrashPoint): Promise<{ reported: Restored | undefined; statements: number }> {
      const process = await next;
      next = load();
      const query = 'mutation { restoreBackup(file: "own.tar.gz") { outcome databaseRestored message } }';
      const answer = await process.ask(query, {}, kill);
      await process.stop();
      return { reported: answer?.data?.restoreBackup as Restored | undefined, statements: answer?.statements ?? 0 };
    },
    async close() {
      await (await next).stop();
    },
  };
}

/**
 * Lets a restore crash while others write, starts the service again, and compares the stores with the responses and the
 * acknowledged writes. Each write contains its epoch: a restore may discard those of the old epoch. Returns whether the
 * stores are new, and what contradicts the service's guarantees.
 */
async function crash(fixture: CrashFixture, point: CrashPoint) {
  await fixture.fillStores('living', 'living@x');
  await fixture.tasks.query(`update feed_state set epoch = ${OLD_EPOCH}`);
  const writers = startWriters(fixture);
  const { reported } = await fixture.runRestore(point);
  const next = await fixture.startOther();
  const unsettled = () => fixture.own.query('select 1 from restores where ended_at is null');
  await eventually(async () => expect(await unsettled()).toEqual([]), { timeoutMs: 60_000 });
  await eventually(async () => expect(await fixture.leftovers()).toEqual([]), { timeoutMs: 60_000 });
  const { tasks, sessions } = await writers.stop();
  await next.stop();

  const [state] = await fixture.tasks.query('select epoch from feed_state');
  const isNew = Number(state?.epoch) > OLD_EPOCH;
  const contradictions: string[] = [];
  const there = new Set((await fixture.tasks.query('select id from tasks')).map(({ id }) => id));
  const lost = tasks.filter((task) => !there.has(task.id) && !(isNew && task.epoch === OLD_EPOCH));
  if (lost.length > 0) contradictions.push(`${lost.length} acknowledged tasks are lost`);
  const kept = new Set((await fixture.auth.query('select id from sessions')).map(({ id }) => id));
  const ended = sessions.filter((id) => !kept.has(id));
  if (ended.length > 0) contradictions.push(`${ended.length} acknowledged sessions are lost`);
  const [account] = await fixture.auth.query('select email from accounts');
  if (account?.email !== (isNew ? 'restored@x' : 'living@x')) contradictions.push('one store is new and one is old');
  if (reported && reported.outcome !== 'UNKNOWN' && reported.databaseRestored !== isNew)
    contradictions.push(`${reported.outcome} was reported, but the stores are ${isNew ? 'new' : 'old'}`);
  return { isNew, contradictions };
}

function startWriters({ tasks, auth }: BackupFixture) {
  const acknowledged = { tasks: [] as { id: string; epoch: number }[], sessions: [] as string[] };
  const pools = [tasks, auth].map(({ url }) => new Pool({ connectionString: url, max: 1 }));
  let stopped = false;
  const write = async (pool: Pool | undefined, work: (pool: Pool) => Promise<void>) => {
    pool?.on('error', () => undefined);
    while (pool && !stopped) {
      // A failed write is not acknowledged. The pause is longer then, because each try costs the server a process.
      const pauseMs = await work(pool).then(
        () => 5,
        () => 50,
      );
      await sleep(pauseMs);
    }
  };
  const running = [
    write(pools[0], async (pool) => {
      const { rows } = await pool.query<{ id: string; epoch: number }>(
        `insert into tasks values (gen_random_uuid(), 'written') returning id, (select epoch from feed_state) as epoch`,
      );
      acknowledged.tasks.push(...rows);
    }),
    write(pools[1], async (pool) => {
      const { rows } = await pool.query<{ id: string }>('insert into sessions (account) values (1) returning id');
      acknowledged.sessions.push(...rows.map(({ id }) => id));
    }),
  ];
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
      await Promise.all(pools.map((pool) => pool.end()));
      return acknowledged;
    },
  };
}

// An ordinary run tries some of the points, because swap-stores.test.ts has the states that they lead to; a long run (npm run
// test:long) tries all.
const POINTS = process.env.TASKMESH_LONG ? Infinity : 2;
const WAYS: CrashPoint['when'][] = ['before', 'sent', 'cut'];
const ROLE = `test_crash_${randomBytes(5).toString('hex')}`;

const server = await createTestDatabase('crash_roles');
await server.query(`create role ${ROLE} superuser login password 'secret'`);
atEnd(() => server.query(`drop role ${ROLE}`));

/** Stores of different administrators cannot share a transaction, so a restore treats them as different servers. */
const OTHER = asRole(server.url, ROLE);

/** `ways`: of an ordinary run. */
function pointsOf(statements: number, ways: CrashPoint['when'][]): CrashPoint[] {
  if (POINTS > statements)
    return WAYS.flatMap((when) => Array.from({ length: statements }, (_, index) => ({ when, statement: index + 1 })));
  // Most points are near the end, where the stores are swapped.
  const share = (point: number) => 0.4 + (0.6 * point) / (POINTS - 1);
  return Array.from({ length: POINTS }, (_, point) => ({
    when: ways[point % ways.length] ?? 'before',
    statement: Math.ceil(statements * share(point)),
  }));
}

it.each<[string, string | undefined, CrashPoint['when'][]]>([
  ['on one server', undefined, ['before', 'sent']],
  ['that cannot share a transaction', OTHER, ['cut', 'sent']],
])(
  'a restore that is killed or loses a connection at any statement replaces all or nothing, and agrees with its response, for stores %s',
  async (_what, authServer, ways) => {
    const fixture = await createCrashFixture(authServer);
    atEnd(() => fixture.close());
    const { reported, statements } = await fixture.runRestore();
    expect(reported).toMatchObject({ outcome: 'RESTORED' });
    const ends = [];
    for (const point of pointsOf(statements, ways)) ends.push(await crash(fixture, point));
    expect(ends.flatMap(({ contradictions }) => contradictions)).toEqual([]);
    expect(new Set(ends.map(({ isNew }) => isNew))).toEqual(new Set([true, false]));
  },
  POINTS === Infinity ? 7_200_000 : 240_000,
);
