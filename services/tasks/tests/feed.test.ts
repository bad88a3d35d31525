import { atEnd, createTestClock } from '@taskmesh/testing';
import { unsealCursor } from '@taskmesh/contracts';
import { createSecretKey } from 'node:crypto';
import { startTasks, type TestTasks } from './support/running-tasks.ts';

const HOUR_MS = 3_600_000;
const clock = createTestClock('2026-11-20T10:00:00.000Z');
const service = await startTasks({ name: 'feed', clock, env: { CHANGE_RETENTION_HOURS: '2' } });

const cursorOf = async (user: ReturnType<TestTasks['user']>): Promise<string> =>
  (await user.request('{ tasks { changesCursor } }')).tasks.changesCursor;

describe('the change log', () => {
  it('contains each change with both images, numbered without gaps', async () => {
    const user = service.user();
    clock.set('2026-11-20T10:00:00.000Z');
    const created = await user.create({ title: 'logged', dueDate: '2026-12-01T00:00:00Z', category: 'c' });
    clock.advance(10);
    await user.update(created.id, { completed: true, dueDate: null });
    clock.advance(10);
    await user.remove(created.id);

    const first = {
      ...{ id: created.id, ownerId: user.id, title: 'logged', description: null, completed: false },
      ...{ dueDate: '2026-12-01T00:00:00.000Z', category: 'c', priority: 'medium', version: 1 },
      ...{ createdAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z' },
    };
    const second = { ...first, completed: true, dueDate: null, updatedAt: '2026-11-20T10:00:00.010Z', version: 2 };
    const more = { id: expect.any(String), epoch: 1, ownerId: user.id, cursor: expect.any(String), traceparent: null };
    const [made, changed, gone] = [first.updatedAt, second.updatedAt, '2026-11-20T10:00:00.020Z'];
    expect(await service.tasks.internal.changesAfter(user.id, 0, 1_000)).toEqual({
      epoch: 1,
      expired: false,
      changes: [
        { ...more, sequence: 1, kind: 'INSERT', task: first, previous: null, occurredAt: made },
        { ...more, sequence: 2, kind: 'UPDATE', task: second, previous: first, occurredAt: changed },
        { ...more, sequence: 3, kind: 'DELETE', task: second, previous: second, occurredAt: gone },
      ],
    });
  });

  it("equals the published records, with the request's trace", async () => {
    const user = service.user();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await user.send('mutation { createTask(input: { title: "traced" }) { id } }', {}, traceparent);
    const { edges } = (await user.request('{ tasks { edges { node { id } } } }')).tasks;
    await user.update(edges[0].node.id, { title: 'renamed' });
    await service.delivered();
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 10);
    expect(service.published.filter(({ ownerId }) => ownerId === user.id)).toEqual(changes);
    expect(changes.map((change) => change.traceparent)).toEqual([traceparent, null]);
  });

  it('returns fewer large changes than the limit, but at least one', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'large' });
    for (let n = 0; n < 30; n++) await user.update(id, { description: '\u0001'.repeat(2_000) });
    const sequences: number[] = [];
    for (let last = 0; last < 31; last = sequences.at(-1) ?? 0) {
      const { changes } = await service.tasks.internal.changesAfter(user.id, last, 1_000);
      expect(JSON.stringify(changes).length).toBeLessThan(320 * 1024);
      sequences.push(...changes.map(({ sequence }) => sequence));
    }
    expect(sequences).toEqual(Array.from({ length: 31 }, (_, n) => n + 1));
    // Larger than a page because of insignificant white space.
    await service.query(
      `update changes set task = (task::text || repeat(' ', 500000))::json where owner_id = $1 and sequence = 1`,
      [user.id],
    );
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 1_000);
    expect(changes.map(({ sequence }) => sequence)).toEqual([1]);
  });

  it.each([
    ['not an owner', 0, 10],
    ['01890000-0000-7000-8000-000000000001', -1, 10],
    ['01890000-0000-7000-8000-000000000001', 0, 1_001],
  ])('rejects a request for the changes of %s after %d, at most %d', async (owner, sequence, limit) => {
    const asked = service.tasks.internal.changesAfter(owner, sequence, limit);
    await expect(asked).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  it('returns the heads of many owners at once, known or not, and on request as cursors, each for its owner', async () => {
    const [busy, idle] = [service.user(), service.user()];
    await busy.create({ title: 'one' });
    await busy.create({ title: 'two' });
    const upper = busy.id.toUpperCase();
    const { heads } = await service.tasks.internal.heads([upper, busy.id, idle.id, 'nonsense']);
    expect(heads).toEqual({ [upper]: 2, [busy.id]: 2, [idle.id]: 0, nonsense: 0 });
    expect(await service.tasks.internal.heads([])).toEqual({ epoch: 1, heads: {}, cursorKey: expect.any(String) });
    const { cursors = {} } = await service.tasks.internal.heads([busy.id, idle.id], true);
    for (const { id } of [busy, idle])
      expect(await service.tasks.internal.openCursor(id, cursors[id] ?? '')).toEqual({ epoch: 1, sequence: heads[id] });
  });
});

it('a cursor of a page joins list and feed without gaps or duplicates during concurrent writes', async () => {
  const user = service.user();
  let writing = true;
  const writer = (async () => {
    for (let n = 0; writing; n++) await user.create({ title: `task ${n}` });
  })();
  for (let round = 0; round < 10; round++) {
    const query = '{ tasks(first: 1000) { changesCursor totalCount edges { node { id } } } }';
    const { changesCursor, totalCount, edges } = (await user.request(query)).tasks;
    const position = await service.tasks.internal.openCursor(user.id, changesCursor);
    // Only creates, so there are as many tasks as changes.
    expect([position?.sequence, totalCount]).toEqual([edges.length, edges.length]);
  }
  writing = false;
  await writer;
});

it('a cursor is valid at every instance of the same store, but in no other epoch', async () => {
  const user = service.user();
  await user.create({ title: 'shared' });
  const cursor = await cursorOf(user);
  const other = await service.another();
  expect(await other.tasks.internal.openCursor(user.id, cursor)).toEqual({ epoch: 1, sequence: 1 });
  await service.query(`update feed_state set epoch = 2, cursor_key = sha256('next')`);
  atEnd(() => service.query('update feed_state set epoch = 1'));
  expect(await service.tasks.internal.openCursor(user.id, cursor)).toBeNull();
  const next = await cursorOf(user);
  expect(await other.tasks.internal.openCursor(user.id, next)).toEqual({ epoch: 2, sequence: 1 });
  const { epoch, cursorKey = '' } = await service.tasks.internal.heads([]);
  expect(epoch).toBe(2);
  const key = createSecretKey(cursorKey, 'base64');
  const opened = [next, cursor].map((each) => unsealCursor(key, user.id, each));
  expect(opened).toEqual([{ epoch: 2, sequence: 1 }, undefined]);
  await user.create({ title: 'in the new epoch' });
  await service.delivered();
  expect(service.published.findLast(({ ownerId }) => ownerId === user.id)).toMatchObject({ epoch: 2, sequence: 2 });
});

it('a new epoch of a frozen store is rejected with the reason, and begins once the store accepts writes again', async () => {
  const freeze = (to: 'on' | 'off') =>
    service.query(
      `begin read write; alter database ${service.database.name} set default_transaction_read_only = ${to}; commit;
       select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'taskmesh-%'`,
    );
  const { epoch } = await service.tasks.internal.heads([]);
  await freeze('on');
  const message = 'The store tasks is read-only (default_transaction_read_only). Allow writes, then repeat this.';
  const refused = service.tasks.restore.newEpoch().finally(() => freeze('off'));
  await expect(refused).rejects.toMatchObject({ code: 'CONFLICT', message });
  expect(await service.tasks.restore.newEpoch()).toBeGreaterThan(epoch);
  await service.query('update feed_state set epoch = 1');
});

describe('housekeeping', () => {
  const SEQUENCES = 'select sequence::int from changes where owner_id = $1 order by sequence';
  const sequencesOf = async (owner: string) =>
    (await service.query(SEQUENCES, [owner])).map(({ sequence }) => sequence);

  /** Makes changes look as if they were published earlier. */
  const publishedEarlier = (ms: number) =>
    service.query(`update changes set published_at = published_at - $1 * interval '1 millisecond'`, [ms]);

  it('deletes published changes after the retention; older cursors expire, the head does not', async () => {
    const user = service.user();
    const after = (sequence: number) => service.tasks.internal.changesAfter(user.id, sequence, 10);
    for (let n = 0; n < 3; n++) await user.create({ title: `old ${n}` });
    await service.delivered();
    await publishedEarlier(HOUR_MS);
    await user.create({ title: 'young' });
    await service.delivered();
    await service.tasks.housekeep();
    expect(await sequencesOf(user.id)).toEqual([1, 2, 3, 4]);
    await publishedEarlier(HOUR_MS);
    await service.tasks.housekeep();
    expect(await sequencesOf(user.id)).toEqual([4]);
    for (const sequence of [0, 1, 2]) expect(await after(sequence)).toEqual({ epoch: 1, expired: true, changes: [] });
    expect(await after(3)).toMatchObject({ expired: false, changes: [{ sequence: 4 }] });

    await publishedEarlier(HOUR_MS);
    await service.tasks.housekeep();
    expect(await sequencesOf(user.id)).toEqual([]);
    expect(await after(4)).toEqual({ epoch: 1, expired: false, changes: [] });
    for (const sequence of [3, 9]) expect(await after(sequence)).toMatchObject({ expired: true });
    expect((await service.tasks.internal.heads([user.id])).heads[user.id]).toBe(4);
  });

  it('leaves no gap if clocks disagreed about the order', async () => {
    const user = service.user();
    for (let n = 0; n < 3; n++) await user.create({ title: `published ${n}` });
    await service.delivered();
    await service.query(
      `update changes set published_at = now() - interval '1 day' where owner_id = $1 and sequence <> 2`,
      [user.id],
    );
    await service.tasks.housekeep();
    expect(await sequencesOf(user.id)).toEqual([2, 3]);
  });

  it('deletes old changes despite times in the future and unpublished changes of their owner', async () => {
    const [waiting, ahead, other] = [service.user(), service.user(), service.user()];
    await waiting.create({ title: 'not published' });
    clock.set('9000-01-01T00:00:00.000Z');
    await ahead.create({ title: 'by a clock that is ahead' });
    clock.set('2026-11-20T10:00:00.000Z');
    for (let n = 0; n < 3; n++) await other.create({ title: `old ${n}` });
    await service.delivered();
    await publishedEarlier(5 * HOUR_MS);
    await service.query('update changes set published_at = null, part = 99 where owner_id = $1', [waiting.id]);
    await service.tasks.housekeep();
    expect(await Promise.all([waiting, ahead, other].map(({ id }) => sequencesOf(id)))).toEqual([[1], [], []]);
    await service.query('delete from changes where owner_id = $1', [waiting.id]);
  });

  /** Inserts changes, which no relay publishes. `published` is SQL. */
  const fill = (owner: string, from: number, to: number, published: string) =>
    service.query(
      `insert into changes (part, owner_id, sequence, kind, task, occurred_at, published_at)
       select 99, $1, n, 'UPDATE', '{}', now() - interval '4 hours', ${published} from generate_series($2::int, $3::int) n`,
      [owner, from, to],
    );

  it('deletes a long log completely, except for a recent change, and thousands of unpublished ones with the later ones of their owner', async () => {
    const [waiting, other] = [service.user(), service.user()];
    await fill(waiting.id, 1, 2_500, 'null');
    await fill(other.id, 1, 4_500, `now() - interval '3 hours'`);
    await fill(waiting.id, 2_501, 2_501, `now() - interval '3 hours'`);
    await fill(other.id, 4_501, 4_501, 'now()');
    await service.tasks.housekeep();
    expect(await sequencesOf(waiting.id)).toHaveLength(2_501);
    expect(await sequencesOf(other.id)).toEqual([4_501]);
    await service.query('delete from changes where part = 99');
  });

  it("keeps an owner's newest 50,000 changes, and all from an unpublished one on", async () => {
    const [busy, waiting, other] = [service.user(), service.user(), service.user()];
    for (const [owner, count, unpublished] of [
      [busy.id, 54_500, 0],
      [waiting.id, 50_020, 10],
      [other.id, 10, 0],
    ] as const) {
      await service.query('insert into feeds (owner_id, sequence) values ($1, $2)', [owner, count]);
      await fill(owner, 1, count, `case when n <> ${unpublished} then now() end`);
    }
    await service.tasks.housekeep();
    const first = async (owner: string) => (await sequencesOf(owner))[0];
    expect(await Promise.all([busy, waiting, other].map(({ id }) => first(id)))).toEqual([4_501, 10, 1]);
    expect((await service.tasks.internal.changesAfter(busy.id, 4_499, 10)).expired).toBe(true);
    await service.query('delete from changes where part = 99');
  });
});
