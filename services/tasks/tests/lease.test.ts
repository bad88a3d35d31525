import { openLockSession, openSession, type Session } from '@taskmesh/store';
import { atEnd, createProxyFor, eventually, connectClient } from '@taskmesh/testing';
import { openLease, type Lease, type ReadChange } from '../src/relay/relay.repository.ts';
import { openStore, silent } from './support/store.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadLetterRepository } from '../src/relay/dead-letter.repository.ts';
import { createDeadLetterService } from '../src/relay/dead-letter.service.ts';
import { startTasks } from './support/running-tasks.ts';

const { store, database } = await openStore('lease');

const notices = { onNotification: () => undefined, onReplay: () => undefined };

async function open(): Promise<Lease> {
  const lease = await openLease(database, { ...notices, monotonicMs: () => performance.now() });
  atEnd(() => lease.end());
  return lease;
}

it('loses its parts within seconds when it is frozen during a response that fills all buffers', async () => {
  const { proxy, url } = await createProxyFor(store.url);
  const frozen = await openLockSession({
    openSession: ({ settings = {} } = {}) => {
      const sooner = Object.entries(settings).map(([name, value]) => [name, value?.replace(/^\d+s$/, '2s') ?? null]);
      return openSession({ url, name: 'frozen', timeoutMs: 60_000, settings: Object.fromEntries(sooner) });
    },
  });
  const [LOCK_CLASS, LOCK] = [1, 2];
  expect(await frozen.claim(LOCK_CLASS, [LOCK])).toEqual([LOCK]);
  const text = `select repeat('x', 1000000) from generate_series(1, 1000)`;
  const answer = frozen.run({ name: 'large', text }).catch(() => undefined);
  const sending = `select from pg_stat_activity where application_name = 'frozen' and wait_event = 'ClientWrite'`;
  await eventually(async () => expect(await store.query(sending)).toHaveLength(1), { everyMs: 1 });
  proxy.strand(); // like the kernel, which keeps the connection of a stopped process
  atEnd(async () => {
    await proxy.close();
    await answer;
    await frozen.close();
  });
  const lock = () => store.query('select pg_try_advisory_lock($1, $2) as ours', [LOCK_CLASS, LOCK]);
  await eventually(async () => expect(await lock()).toEqual([{ ours: true }]), { timeoutMs: 20_000, everyMs: 100 });
}, 60_000);

describe('large changes', () => {
  const OWNERS = Array.from({ length: 8 }, (_, part) => `01890000-0000-7000-8000-00000000000${part}`);
  const bytesOf = (rows: ReadChange[]) =>
    rows.reduce((sum, { task, previous }) => sum + Buffer.byteLength(task) + Buffer.byteLength(previous ?? ''), 0);
  const sequencesOf = (rows: ReadChange[], owner: string) =>
    rows.filter(({ owner_id }) => owner_id === owner).map(({ sequence }) => Number(sequence));
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  beforeEach(async () => {
    // The first change of each owner is larger than the limit for a part or an owner.
    await store.query(
      `insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
       select part - 1, ($1::uuid[])[part], n, 'UPDATE', image, image, now()
       from generate_series(1, 8) part, generate_series(1, 60) n,
         to_json(repeat('x', case n when 1 then 700000 else 15000 end)) image`,
      [OWNERS],
    );
  });
  afterEach(() => store.query('delete from changes'));

  it('are all read, a few megabytes at a time', async () => {
    const lease = await open();
    await lease.claim();
    const rows: ReadChange[] = [];
    for (;;) {
      const some = await lease.read(500, []);
      if (some.length === 0) break;
      expect(bytesOf(some)).toBeLessThan(12 * 1024 * 1024);
      expect(new Set(some.map(({ owner_id }) => owner_id)).size).toBe(8);
      await lease.mark(some.map(({ id }) => id));
      rows.push(...some);
    }
    for (const owner of OWNERS) expect(sequencesOf(rows, owner)).toEqual(upTo(60));
  });

  it('of blocked owners are read in limited batches that report whether there may be more', async () => {
    const lease = await open();
    const [owner = ''] = OWNERS;
    const from = (sequence: number) => lease.readBlocked([{ key: owner, sequence }]);
    const first = await from(1);
    expect([sequencesOf(first, owner), first[0]?.is_cut]).toEqual([[1], true]);
    const second = await from(2);
    expect(bytesOf(second)).toBeLessThan(256 * 1024);
    expect([second.length > 1, second.at(-1)?.is_cut]).toEqual([true, true]);
    const last = await from(60);
    expect([sequencesOf(last, owner), last[0]?.is_cut]).toEqual([[60], false]);
  });
});

const CHANGES = 20_000;
/** An owner's change in one statement, so that its id is assigned as in the service. */
const INSERT = `
  with counted as (
    insert into feeds as f (owner_id, sequence) values ($1::uuid, 1)
    on conflict (owner_id) do update set sequence = f.sequence + 1 returning owner_id, sequence
  ), moment as (select date_trunc('second', now()) as now)
  insert into changes (part, owner_id, sequence, kind, task, occurred_at)
  select 0, owner_id, sequence, 'INSERT', json_build_object('id', owner_id, 'user_id', owner_id, 'title', 'x', 'description', null,
    'completed', false, 'due_date', null, 'category', null, 'priority', 'low', 'created_at', now, 'updated_at', now, 'version', 1), now
  from counted, moment`;

/** A store, and a lease on its whole log that records its statements. */
async function openLog({ timeoutMs }: { timeoutMs?: number } = {}) {
  const { store, database } = await openStore('polling', { poolSize: 2 });
  const statements: Parameters<Session['run']>[] = [];
  const openSession: typeof database.openSession = async (options) => {
    const session = await database.openSession({ ...options, ...(timeoutMs && { timeoutMs }) });
    const run: Session['run'] = (...args) => {
      statements.push(args);
      return session.run(...args);
    };
    return { ...session, run };
  };
  let nowMs = 0;
  // The low-water mark is updated before each read.
  const lease = await openLease({ openSession }, { ...notices, monotonicMs: () => (nowMs += 1_000) });
  await lease.claim();
  atEnd(() => lease.end());
  const [snapshot, explainer] = [await connectClient(store.url), await connectClient(store.url)];
  return {
    store,
    database,
    lease,
    snapshot,
    commit: (changes: number) =>
      store.query(
        `insert into changes (part, owner_id, sequence, kind, task, occurred_at)
         select n % 8, '01890000-0000-7000-8000-0000000000aa', n, 'INSERT', '{}', now() from generate_series(1, $1::int) n`,
        [changes],
      ),
    async publish(changes: number) {
      let published = 0;
      for (let rows = await lease.read(500, []); published < changes; rows = await lease.read(500, [])) {
        await lease.mark(rows.map(({ id }) => id));
        published += rows.length;
      }
    },
    /** Returns how many pages another read touches. */
    async pages(): Promise<number> {
      await lease.read(500, []);
      const [{ text = '' } = {}, values] = statements.findLast(([{ name }]) => name === 'relay-read') ?? [];
      const { rows } = await explainer.query(`explain (analyze, buffers, format json) ${text}`, values);
      const { Plan } = rows[0]['QUERY PLAN'][0];
      return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    },
    /** The id after which the last read started. */
    lowest: () => Math.min(...(statements.findLast(([{ name }]) => name === 'relay-read')?.[1]?.[1] as number[])),
  };
}

it('does not read published changes again, no matter how long an old snapshot is held', async () => {
  const { snapshot, lease, commit, publish, pages } = await openLog();
  await snapshot.query('begin isolation level repeatable read');
  await snapshot.query('select from changes');
  await commit(CHANGES);
  await publish(CHANGES);
  await eventually(async () => expect(await pages()).toBeLessThan(60), { everyMs: 100 });
  // This is due to the low-water mark: a read from the beginning has to scan all entries.
  lease.restart();
  expect(await pages()).toBeGreaterThan(1_000);
}, 180_000);

it('waits for a long read, the first of a lease and later ones from an old change: they scan all entries that an old snapshot keeps', async () => {
  const { snapshot, store, lease, commit, lowest } = await openLog({ timeoutMs: 1_000 });
  await commit(2);
  const readSlowly = async () => {
    await snapshot.query('begin; lock table changes in access exclusive mode');
    const read = lease.read(500, []).catch((error: unknown) => error);
    const waiting = `
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and now() - query_start > '1500 ms'`;
    await eventually(async () => expect(await store.query(waiting)).toHaveLength(1));
    await snapshot.query('rollback');
    return read;
  };
  expect(await readSlowly()).toMatchObject([{ id: '1' }, { id: '2' }]);
  await eventually(async () => {
    await lease.mark(['1', '2']);
    await lease.read(500, []);
    expect(lowest()).toBe(2);
  });
  lease.readFrom({ id: '2', part: 2 });
  expect([await readSlowly(), lowest()]).toEqual([[], 1]);
});

it('finds a replayed change, no matter how old it is', async () => {
  const { store, database, lease, commit, publish, lowest } = await openLog();
  await commit(50);
  await publish(50);
  await store.query(
    `insert into dead_letters (source, fingerprint, change_id, owner_id, sequence, reason)
     select 'relay', 'change 7', id, owner_id, sequence, 'r' from changes where id = 7`,
  );
  const risen = async () => {
    await lease.read(500, []);
    expect(lowest()).toBe(50);
  };
  await eventually(risen, { everyMs: 50 });
  const repository = createDeadLetterRepository(database);
  const deadLetters = createDeadLetterService({ repository, onReplayed: () => undefined, log: silent });
  expect(await deadLetters.replayDeadLetters({ all: true })).toEqual({ replayed: 1 });
  await eventually(async () => expect(await lease.read(500, [])).toMatchObject([{ id: '7' }]));
});

it('finds the very first change after a long time without any', async () => {
  const { lease, commit } = await openLog();
  for (let read = 0; read < 10; read++) expect(await lease.read(500, [])).toEqual([]);
  await commit(1);
  expect(await lease.read(500, [])).toMatchObject([{ id: '1' }]);
});

it('finds a change that is committed after higher ids, no matter how late', async () => {
  const service = await startTasks({ name: 'late' });
  const [late, early] = [service.user(), service.user()];
  const writer = await connectClient(service.database.url, 'begin');
  await writer.query(INSERT, [late.id]);
  const begun = performance.now();
  let count = 0;
  for (; performance.now() - begun < 2_000; count++) {
    await service.query(INSERT, [early.id]);
    await sleep(20);
  }
  await eventually(() => expect(service.published).toHaveLength(count));
  await writer.query('commit');
  await eventually(() => expect(service.published.at(-1)?.ownerId).toBe(late.id));
  expect(service.published.map(({ ownerId, sequence }) => `${ownerId} ${sequence}`)).toEqual([
    ...Array.from({ length: count }, (_, n) => `${early.id} ${n + 1}`),
    `${late.id} 1`,
  ]);
}, 180_000);
