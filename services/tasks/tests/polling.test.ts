import type { Session } from '@taskmesh/store';
import { atEnd, connectClient, eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadLetterRepository } from '../src/relay/dead-letter.repository.ts';
import { createDeadLetterService } from '../src/relay/dead-letter.service.ts';
import { openLease } from '../src/relay/relay.repository.ts';
import { startTasks } from './support/running-tasks.ts';
import { openStore, silent } from './support/store.ts';

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
  const notices = { onNotification: () => undefined, onReplay: () => undefined };
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
  const deadLetters = createDeadLetterService({
    repository: createDeadLetterRepository(database),
    onReplayed: () => undefined,
    log: silent,
  });
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
  while (performance.now() - begun < 2_000) {
    await service.database.query(INSERT, [early.id]);
    count++;
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
