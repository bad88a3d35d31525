import { collectGarbage } from '@taskmesh/testing';
import type { Row } from '../src/table.ts';
import { createViews } from '../src/change-view.ts';
import { BINDINGS, createChannelWorld, settled, TASKS } from './world.ts';

const viewOf = createViews(TASKS);

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => (world = createChannelWorld()));
afterEach(() => world.end());

const asking = (filters: string[]) => ({
  access_token: 'ada.fresh.1',
  config: { postgres_changes: filters.map((filter) => ({ ...BINDINGS[0], filter })) },
});
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
    const oldRecord = { ...change.record, title: 'before' };
    expect(viewOf({ ...change, oldRecord }).isWithin(before)).toBe(true);
  });

  it('are stored once for all channels with the same filter', async () => {
    const values = Array.from({ length: 87 }, (_, n) => String.fromCharCode(161 + n)).join();
    const filter = Array.from({ length: 20 }, () => `title=in.(${values})`).join();
    const clients = Array.from({ length: 4 }, () => world.connect());
    const join = async (topic: string) => {
      for (const client of clients)
        client.join(topic, asking(Array.from({ length: 16 }, () => filter)), `realtime:${topic}`);
      await settled();
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
    client.join('1', asking(many(3)));
    client.join('2', asking(many(50)), 'realtime:many');
    await settled();
    for (const { goOn } of world.waiting.splice(0)) goOn(); // the tokens are valid
    await settled();
    expect(world.waiting.map(({ what }) => what)).toEqual(['feed', 'filters']);
    client.leave('2', 'realtime:many');
    for (const { goOn } of world.waiting.splice(0)) goOn();
    await settled();
    expect(world.waiting).toEqual([]);
    expect([client.reply('1')?.status, world.held().subscriptions]).toEqual(['ok', 1]);
  });

  it('are rejected with a reason when a user has too many distinct filters', async () => {
    const sockets = [world.connect(), world.connect()];
    sockets[0]?.join('1', asking(many(50)));
    sockets[1]?.join('2', asking(many(50)));
    sockets[1]?.join('3', asking(many(50, 50)), 'realtime:more');
    await settled(); // few filters do not wait for a turn
    sockets[1]?.join('4', asking(many(1, 100)), 'realtime:too many');
    sockets[1]?.join('5', { ...asking(many(1, 100)), access_token: 'bob.fresh.2' }, 'realtime:of bob');
    await settled();
    expect(sockets[0]?.reply('1')?.status).toBe('ok');
    expect(['2', '3', '4', '5'].map((ref) => sockets[1]?.reply(ref)?.status)).toEqual(['ok', 'ok', 'error', 'ok']);
    expect(sockets[1]?.reply('4')?.response?.reason).toBe(
      'FilterLimitReached: Too many bindings or filters of this user',
    );
    sockets[0]?.hangUp();
    sockets[1]?.hangUp();
    expect(world.held()).toEqual({ places: 0, watchers: 0, subscriptions: 0 });
    const again = world.connect();
    again.join('1', asking(many(100, 300)));
    await settled();
    expect(again.reply('1')?.status).toBe('ok');
  });

  it('fail only the channel, not the socket, when the user of a new token has too many', async () => {
    const [full, client] = [world.connect(), world.connect()];
    for (const ref of ['1', '2']) full.join(ref, asking(many(50, 50 * Number(ref))), `realtime:${ref}`);
    client.join('1', { ...asking(many(1)), access_token: 'bob.fresh.2' });
    await settled();
    await client.push('ada.fresh.3');
    const message = 'FilterLimitReached: Too many bindings or filters of this user';
    expect(client.frames.slice(-2)).toMatchObject([
      ['1', null, 'realtime:tasks', 'system', { status: 'error', message }],
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
    client.join('1', { access_token: 'ada.fresh.1', config: { postgres_changes: [{ event: '*', ...asked }] } });
    await settled();
    expect(client.reply('1')).toEqual({ status: 'error', response: { reason } });
    expect(client.closed).toBeUndefined();
  });

  it('is not compiled before its token is verified', async () => {
    const client = world.connect();
    for (const [ref, access_token] of Object.entries({ 1: 'ada.forged.1', 2: '', 3: 'ada.fresh.1' }))
      client.join(ref, { ...asking(['nonsense']), access_token }, `realtime:${ref}`);
    await settled();
    expect(['1', '2', '3'].map((ref) => client.reply(ref)?.response?.reason)).toEqual([
      'InvalidJWTToken: The token provided is not valid',
      'Unauthorized: access_token required',
      'malformed filter: a condition is column=operator.value',
    ]);
  });

  it('closes the socket after many repetitions, unless a channel is joined', async () => {
    const [hopeless, other] = [world.connect(), await world.joined()];
    for (let times = 0; times < 81; times++)
      for (const client of [hopeless, other]) client.join('2', { access_token: 'ada.forged.1' }, 'realtime:refused');
    await settled();
    expect([hopeless.closed, other.closed]).toEqual([{ code: 1013, reason: 'Too many refused joins' }, undefined]);
  });

  it('is rejected when its topic is invalid or too long', async () => {
    const client = world.connect();
    for (const [ref, length] of Object.entries({ 1: 0, 2: 247, 3: 246 }))
      client.join(ref, { access_token: 'ada.fresh.1' }, `realtime:${'x'.repeat(length)}`);
    await settled();
    expect(['1', '2', '3'].map((ref) => client.reply(ref)?.response?.reason)).toEqual([
      'TopicNameRequired: You must provide a topic name',
      'TopicNameTooLong: A topic has at most 255 characters',
      undefined,
    ]);
  });
});
