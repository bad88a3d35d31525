import { openLockSession, openSession } from '@taskmesh/store';
import { atEnd, createProxyFor, eventually } from '@taskmesh/testing';
import { openLease, type Lease, type ReadChange } from '../src/relay/relay.repository.ts';
import { openStore } from './support/store.ts';

const { store, database } = await openStore('lease');

async function open(onNotification = () => undefined as void): Promise<Lease> {
  const lease = await openLease(database, {
    onNotification,
    onReplay: onNotification,
    monotonicMs: () => performance.now(),
  });
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
  const isSending = async () => {
    const [row] = await store.query(
      `select wait_event = 'ClientWrite' as yes from pg_stat_activity where application_name = 'frozen'`,
    );
    return row?.yes === true;
  };
  await eventually(async () => expect(await isSending()).toBe(true), { everyMs: 1 });
  proxy.strand(); // like the kernel, which keeps the connection of a stopped process
  atEnd(async () => {
    await proxy.close();
    await answer;
    await frozen.close();
  });
  await eventually(
    async () => {
      const [row] = await store.query('select pg_try_advisory_lock($1, $2) as ours', [LOCK_CLASS, LOCK]);
      expect(row?.ours).toBe(true);
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
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
