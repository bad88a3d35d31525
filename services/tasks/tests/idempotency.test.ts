import { connectClient, createTestClock, whileLocked } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { codeOf, startTasks } from './support/running-tasks.ts';

const clock = createTestClock('2026-11-20T10:00:00.000Z');
const service = await startTasks({ name: 'idempotency', clock });

const CREATE =
  'mutation ($input: CreateTaskInput!, $key: String) { createTask(input: $input, idempotencyKey: $key) { id } }';

it('creates once, and returns the task as it was created to a retry', async () => {
  const user = service.user();
  const input = { title: 'once', dueDate: '0001-01-01T00:00:00.000Z', priority: 'HIGH' };
  const created = await user.create(input, 'key');
  await user.update(created.id, { title: 'changed since', dueDate: null });
  clock.advance(60_000);
  expect(await user.create(input, 'key')).toEqual(created);
  await user.remove(created.id);
  expect(await user.create(input, 'key')).toEqual(created);
  expect((await user.request('{ taskStatistics { total } }')).taskStatistics.total).toBe(0);
  expect((await service.tasks.internal.heads([user.id])).heads[user.id]).toBe(3);
});

it('treats another spelling of an input as the same input', async () => {
  const user = service.user();
  const created = await user.create({ title: 'spelled', dueDate: '2026-12-01T12:00:00+02:00' }, 'key');
  const again = {
    title: 'spelled',
    description: null,
    dueDate: '2026-12-01T10:00:00.000Z',
    completed: false,
    priority: 'MEDIUM',
  };
  expect((await user.create(again, 'key')).id).toBe(created.id);
});

it('hashes an input like the first release, so that a retry works across an upgrade', async () => {
  const user = service.user();
  await user.create({ title: 'hashed', priority: 'HIGH' }, 'key');
  const fields = JSON.stringify(['hashed', null, null, null, 'high', false]);
  expect(
    await service.database.query('select input_hash from idempotency_keys where owner_id = $1', [user.id]),
  ).toEqual([{ input_hash: createHash('sha256').update(fields).digest('base64url') }]);
});

it('forgets a key after 24 hours', async () => {
  const user = service.user();
  const first = await user.create({ title: 'daily' }, 'key');
  clock.advance(24 * 3_600_000 - 1);
  expect((await user.create({ title: 'daily' }, 'key')).id).toBe(first.id);
  clock.advance(1);
  const second = await user.create({ title: 'daily, but another' }, 'key');
  expect(second.id).not.toBe(first.id);
  expect((await user.create({ title: 'daily, but another' }, 'key')).id).toBe(second.id);
  clock.advance(24 * 3_600_000);
  await service.tasks.housekeep();
  expect(await service.database.query('select 1 from idempotency_keys where owner_id = $1', [user.id])).toEqual([]);
});

it("forgets no key that is valid by the database's clock, even if its own clock is ahead", async () => {
  const ahead = createTestClock(new Date().toISOString());
  const other = await startTasks({ name: 'clock_ahead', clock: ahead });
  const user = other.user();
  const first = await user.create({ title: 'once' }, 'key');
  ahead.advance(25 * 3_600_000);
  await other.tasks.housekeep();
  expect((await user.create({ title: 'once' }, 'key')).id).toBe(first.id);
});

it('keeps the newest 10,000 keys of an owner', async () => {
  const [busy, other] = [service.user(), service.user()];
  await other.create({ title: 'the first' }, 'key');
  await service.database.query(
    `insert into idempotency_keys (owner_id, key, input_hash, task, expires_at)
     select $1, 'key ' || n, '', '{}', $2::timestamptz + n * interval '1 millisecond' from generate_series(1, 14500) n`,
    [busy.id, new Date(clock.now() + 24 * 3_600_000 - 60_000).toISOString()],
  );
  await service.tasks.housekeep();
  const left = `select count(*)::int, min(substr(key, 5)::int) from idempotency_keys where owner_id = $1`;
  expect(await service.database.query(left, [busy.id])).toEqual([{ count: 10_000, min: 4_501 }]);
  expect(await service.database.query('select key from idempotency_keys where owner_id = $1', [other.id])).toEqual([
    { key: 'key' },
  ]);
  await service.database.query('delete from idempotency_keys');
});

it('responds with CONFLICT at once while the first request is still running', async () => {
  const user = service.user();
  await user.create({ title: 'has a feed' });
  const lock = 'select 1 from feeds where owner_id = $1 for update';
  const create = () => user.create({ title: 'slow' }, 'key');
  const { id } = await whileLocked(service.database, [lock, user.id], create, {
    async meanwhile() {
      const { errors } = await user.send(CREATE, { input: { title: 'slow' }, key: 'key' });
      expect(errors?.[0]?.extensions).toEqual({ code: 'CONFLICT', retryAfterSeconds: 1 });
    },
  });
  expect((await create()).id).toBe(id);
});

it('responds to a retry while another one is running', async () => {
  const user = service.user();
  const first = await user.create({ title: 'once' }, 'key');
  const other = await connectClient(service.database.url);
  await other.query(`select pg_advisory_lock(hashtextextended('key', hashtextextended($1, 0)))`, [user.id]);
  expect((await user.create({ title: 'once' }, 'key')).id).toBe(first.id);
  clock.advance(24 * 3_600_000);
  expect(codeOf(await user.send(CREATE, { input: { title: 'once' }, key: 'key' }))).toBe('CONFLICT');
});
