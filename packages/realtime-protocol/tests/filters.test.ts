import { collectGarbage } from '@taskmesh/testing';
import type { Row } from '../src/table.ts';
import { createViews } from '../src/change-view.ts';
import { BINDINGS, createChannelWorld, settled, TASKS } from './world.ts';

const viewOf = createViews(TASKS);

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => (world = createChannelWorld()));
afterEach(() => world.end());

const asking = (filters: string[]) => ({
  config: { postgres_changes: filters.map((filter) => ({ ...BINDINGS[0], filter })) },
});
const TOO_MANY = 'FilterLimitReached: Too many bindings or filters of this user';
/** Each costs as much as four comparisons. */
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `title=in.(${from + n}${',x'.repeat(79)})`);

describe('filters of channels', () => {
  it('are evaluated once for all channels with the same filter, and also match the row before the change', () => {
    let looks = 0;
    const filter = (text: string, test: (row: Row) => boolean) => ({ text, cost: 1, bytes: 1, test });
    const change = { ...world.commit('ada'), kind: 'UPDATE' as const };
    const within = [1, 2, 3].map(() => viewOf(change).isWithin(filter('version=gt.0', () => ++looks > 1)));
    expect([within, looks]).toEqual([[false, false, false], 1]);
    const before = filter('before', ({ title }) => title === 'before');
    expect(viewOf(change).isWithin(before)).toBe(false);
    expect(viewOf({ ...change, oldRecord: { ...change.record, title: 'before' } }).isWithin(before)).toBe(true);
  });

  it('are stored once for all channels with the same filter', async () => {
    const values = Array.from({ length: 87 }, (_, n) => String.fromCharCode(161 + n)).join();
    const filter = Array.from({ length: 20 }, () => `title=in.(${values})`).join();
    const clients = Array.from({ length: 4 }, () => world.connect());
    const join = async (topic: string) => {
      for (const client of clients)
        await client.join(topic, asking(Array.from({ length: 16 }, () => filter)), `realtime:${topic}`);
      for (const { frames } of clients) expect(frames.splice(0)[0]?.[4].status).toBe('ok'); // frames contain the filters
      await settled();
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await join('first');
    let after = 0;
    for (const topic of ['a', 'b', 'c', 'd']) after = await join(topic);
    expect(after - before).toBeLessThan(2 ** 20);
  });

  it('wait for their turn to be compiled when they are many, and hold nothing for a channel that was left', async () => {
    const client = world.connect();
    world.isWaiting = true;
    void client.join('1', asking(many(3)));
    await client.join('2', asking(many(50)), 'realtime:many');
    for (const { resume } of world.waiting.splice(0)) resume(); // the tokens are valid
    await settled();
    expect(world.waiting.map(({ what }) => what)).toEqual(['feed', 'filters']);
    client.leave('2', 'realtime:many');
    for (const { resume } of world.waiting.splice(0)) resume();
    await settled();
    expect(world.waiting).toEqual([]);
    expect([client.reply('1')?.status, world.held().subscriptions]).toEqual(['ok', 1]);
  });

  it('are rejected with a reason when a user has too many distinct filters', async () => {
    const [one, other] = [world.connect(), world.connect()];
    const ok = expect.objectContaining({ status: 'ok' });
    expect(await one.join('1', asking(many(50)))).toEqual(ok);
    expect(await other.join('2', asking(many(50)))).toEqual(ok);
    expect(await other.join('3', asking(many(50, 50)), 'realtime:more')).toEqual(ok);
    // Few filters do not wait for a turn.
    expect(await other.join('4', asking(many(1, 100)), 'realtime:too many')).toEqual({
      status: 'error',
      response: { reason: TOO_MANY },
    });
    const ofBob = { ...asking(many(1, 100)), access_token: 'bob.fresh.2' };
    expect(await other.join('5', ofBob, 'realtime:of bob')).toEqual(ok);
    for (const client of [one, other]) client.hangUp();
    expect(world.held()).toEqual({ sockets: 0, watchers: 0, subscriptions: 0 });
    expect(await world.connect().join('1', asking(many(100, 300)))).toEqual(ok);
  });

  it('fail only the channel, not the socket, when the user of a new token has too many', async () => {
    const [full, client] = [world.connect(), world.connect()];
    for (const ref of ['1', '2']) await full.join(ref, asking(many(50, 50 * Number(ref))), `realtime:${ref}`);
    await client.join('1', { ...asking(many(1)), access_token: 'bob.fresh.2' });
    await client.push('ada.fresh.3');
    expect(client.frames.slice(-2)).toMatchObject([
      ['1', null, 'realtime:tasks', 'system', { status: 'error', message: TOO_MANY }],
      ['1', '1', 'realtime:tasks', 'phx_error', {}],
    ]);
    for (const owner of ['ada', 'bob']) world.commit(owner, { title: '0' });
    expect([client.received(), client.closed]).toEqual([[], undefined]);
  });
});

describe('a join with an invalid request', () => {
  it.each([
    ['a table', { table: 'users' }, 'unknown table: users'],
    ['a table with a strange name', { table: 'x'.repeat(100) }, 'unknown table'],
    ['a table that is not a string', { table: { toString: 1 } }, 'unknown table'],
    ['a schema', { schema: 'auth' }, 'unknown schema: auth'],
    ['a column', { select: ['owner'] }, 'unknown column: owner'],
    ['a column that is not a string', { select: [{ toString: 1 }] }, 'unknown column'],
  ])('is rejected with a reason: %s', async (_what, asked, reason) => {
    const client = world.connect();
    const config = { postgres_changes: [{ event: '*', ...asked }] };
    expect(await client.join('1', { config })).toEqual({ status: 'error', response: { reason } });
    expect(client.closed).toBeUndefined();
  });

  it('is not compiled before its token is verified', async () => {
    for (const [access_token, reason] of [
      ['ada.forged.1', 'InvalidJWTToken: The token provided is not valid'],
      ['', 'Unauthorized: access_token required'],
      ['ada.fresh.1', 'malformed filter: a condition is column=operator.value'],
    ]) {
      const payload = { ...asking(['nonsense']), access_token };
      expect(await world.connect().join('1', payload)).toMatchObject({ response: { reason } });
    }
  });

  it('closes the socket after many repetitions, unless a channel is joined', async () => {
    const [hopeless, other] = [world.connect(), await world.joined()];
    for (let times = 0; times < 81; times++)
      for (const client of [hopeless, other])
        void client.join('2', { access_token: 'ada.forged.1' }, 'realtime:refused');
    await settled();
    expect([hopeless.closed, other.closed]).toEqual([{ code: 1013, reason: 'Too many refused joins' }, undefined]);
  });

  it('is rejected when its topic is invalid or too long', async () => {
    const client = world.connect();
    const reasonFor = async (length: number) =>
      (await client.join(String(length), {}, `realtime:${'x'.repeat(length)}`))?.response?.reason;
    expect(await reasonFor(0)).toBe('TopicNameRequired: You must provide a topic name');
    expect(await reasonFor(247)).toBe('TopicNameTooLong: A topic has at most 255 characters');
    expect(await reasonFor(246)).toBeUndefined();
  });
});
