import type { FeedEnd } from '../src/options.ts';
import { BINDINGS, createChannelWorld, settled, TOPIC, type Client } from './world.ts';

const OTHER = 'realtime:other';
const TOO_MANY = { code: 1013, reason: 'Too many connections' };
/** More than the limit for a slow reader. */
const TOO_MUCH = 2 ** 21;

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => (world = createChannelWorld()));
afterEach(() => world.end());

const messages = ({ frames }: Client) => frames.map(([, , , event, { message }]) => message ?? event);

it('a channel without bindings needs memory for its topic and refs, too, until it ends', async () => {
  const client = world.connect();
  const topic = `realtime:${'x'.repeat(200)}`;
  const config = { config: {} };
  expect(await client.join('\u0001'.repeat(60), config, topic)).toMatchObject({ status: 'ok' });
  expect(await client.join('2', { access_token: 'none' }, OTHER)).toMatchObject({ status: 'error' });
  expect(await client.join('3', config, OTHER)).toMatchObject({ status: 'ok' });
  const reason = 'UnableToSubscribe: The service is not available right now';
  expect(await client.join('4', config, `${topic}y`)).toEqual({ status: 'error', response: { reason } });
  expect([client.closed, world.failures.at(-1)]).toEqual([undefined, 'unavailable']);
  expect(await client.join('5', config, topic)).toMatchObject({ status: 'ok' });
});

describe('the connection limit of a user', () => {
  it('counts all channels of a socket once, and is released when the last channel is left', async () => {
    world.maxSockets = 1;
    const client = await world.joined();
    expect(await client.join('2', {}, OTHER)).toMatchObject({ status: 'ok' });
    client.leave('1');
    expect(world.held().sockets).toBe(1);
    expect(await client.join('4')).toMatchObject({ status: 'ok' });
    for (const topic of [TOPIC, OTHER]) client.leave(null, topic);
    expect(world.held()).toEqual({ sockets: 0, watchers: 0, subscriptions: 0 });
    await world.joined();
  });

  it('closes a socket that exceeds it with a join or with a token', async () => {
    const client = await world.joined();
    world.maxSockets = 1;
    await client.push('ada.fresh.3'); // takes no other place
    const late = world.connect();
    expect(await late.join('1')).toEqual({
      status: 'error',
      response: { reason: 'ConnectionRateLimitReached: Too many connections of this user' },
    });
    expect([late.closed, client.closed, world.failures]).toEqual([TOO_MANY, undefined, ['refused']]);
    world.maxSockets = 0;
    await client.push('bob.fresh.2');
    expect(messages(client).at(-1)).toBe('Too many connections');
    expect(client.closed).toEqual(TOO_MANY);
  });
});

describe('when the feed', () => {
  it.each([
    ['slow', { code: 1013, reason: 'Too slow' }],
    ['stopped', { code: 1012, reason: 'Service restart' }],
  ] as [FeedEnd, Client['closed']][])(
    'ends as %s, the socket closes, with a notice on every channel',
    async (end, closed) => {
      const client = await world.joined();
      await client.join('2', {}, OTHER);
      world.readers.at(-1)?.onEnd(end);
      expect(client.closed).toEqual(closed);
      // Takes effect at once, even if the client has not read it.
      expect([world.feed.owners(), world.held().sockets]).toEqual([0, 0]);
      expect(client.frames.slice(-2).map(([ref, , topic, , { message }]) => [ref, topic, message])).toEqual([
        ['1', TOPIC, closed?.reason],
        ['2', OTHER, closed?.reason],
      ]);
    },
  );

  it('ends because the store was restored, only the channel fails, not the socket', async () => {
    const client = await world.joined();
    expect([world.held().subscriptions, world.failures]).toEqual([1, []]);
    world.restore();
    expect([world.held().subscriptions, world.failures]).toEqual([0, ['cursor_expired']]);
    expect(client.frames.slice(-2)).toMatchObject([
      ['1', null, TOPIC, 'system', { status: 'error', message: expect.stringMatching(/^CURSOR_EXPIRED/) }],
      ['1', '1', TOPIC, 'phx_error', {}],
    ]);
    expect(client.closed).toBeUndefined();
  });

  it('has not answered yet, a channel that ends no longer waits for it', async () => {
    world.isWaiting = true;
    const client = world.connect();
    await client.join('1');
    await world.release(); // the token
    const { signal } = world.readers.at(-1) ?? {};
    expect(signal?.aborted).toBe(false);
    client.hangUp();
    expect(signal?.aborted).toBe(true);
  });

  it('is unavailable, a join is refused, and a change of the user closes the socket', async () => {
    world.isWaiting = true;
    const client = world.connect();
    await client.join('1', { resume: { since: world.cursor('ada', 0) } });
    await world.release(); // the token
    await world.release('fail');
    expect(client.reply('1')?.response?.reason).toMatch(/^UnableToSubscribe/);
    expect([world.held().sockets, client.closed]).toEqual([0, undefined]);
    world.isWaiting = false;
    await client.join('1');
    world.isWaiting = true;
    await client.push('bob.fresh.2');
    await world.release();
    await world.release('fail');
    expect(client.closed).toEqual({ code: 1013, reason: 'The service is not available right now' });
  });
});

describe('a socket that is closed gracefully', () => {
  it('sends every channel the cursor to resume from, and the reason', async () => {
    const client = await world.joined({ resume: {} });
    await client.join('2', { resume: {} }, OTHER);
    const known = client.frames.length;
    client.closeGracefully('Service restart');
    world.commit('ada');
    await settled();
    const received = client.frames
      .slice(known)
      .map(([, , topic, event, { cursor, message }]) => [topic, event, cursor, message]);
    const change = (topic: string) => [topic, 'postgres_changes', undefined, undefined];
    const cursor = (topic: string) => [topic, 'system', 'ada|1', 'cursor'];
    const why = (topic: string) => [topic, 'system', undefined, 'Service restart'];
    expect(received).toEqual(
      [TOPIC, OTHER].flatMap((topic) => [change(topic)]).concat([TOPIC, OTHER].map(cursor), [TOPIC, OTHER].map(why)),
    );
    expect(client.closed).toEqual({ code: 1012, reason: 'Service restart' });
    world.commit('ada');
    await settled();
    expect(client.received()).toEqual(['ada#1', 'ada#1']);
  });

  it('is closed as slow if its client is too slow', async () => {
    const client = await world.joined({ resume: {} });
    client.closeGracefully('Service restart');
    world.commit('ada');
    client.lag(TOO_MUCH);
    await settled();
    expect(client.closed).toEqual({ code: 1013, reason: 'Too slow' });
  });
});

describe('a client that is too slow', () => {
  it.each([
    ['a change', {}, 'ada'],
    ['the cursor of a new owner', { resume: {} }, 'bob'],
  ])('receives no change any more when %s cannot be sent, and its socket is closed', async (_what, payload, owner) => {
    const client = await world.joined(payload);
    client.lag(TOO_MUCH);
    if (owner === 'bob') {
      await client.push('bob.fresh.2');
      client.lag(0);
    }
    world.commit(owner);
    expect([client.received(), client.closed?.reason]).toEqual([[], 'Too slow']);
  });

  it.each([
    ['a change that was just sent', {}],
    ['a change that its filter excludes', { config: { postgres_changes: [{ ...BINDINGS[0], filter: 'title=eq.x' }] } }],
  ])('is disconnected if the cursor of %s cannot be sent', async (_which, payload) => {
    const client = await world.joined({ resume: { since: world.cursor('ada', 0) }, ...payload });
    world.commit('ada');
    client.lag(TOO_MUCH);
    await settled();
    expect(client.closed?.reason).toBe('Too slow');
  });

  it('receives none of the buffered changes after the one that exceeded the limit', async () => {
    world.commit('ada');
    const client = await world.joined({ access_token: 'ada.fading.1', resume: { since: world.cursor('ada', 0) } });
    client.lag(TOO_MUCH);
    await client.push('ada.fresh.2');
    client.lag(0);
    world.commit('ada');
    await settled();
    expect(client.received()).toEqual([]);
  });
});

it('a session closes the socket when it ends, after the cursor of the changes that were sent', async () => {
  const client = await world.joined({ resume: { since: world.cursor('ada', 0) } });
  world.commit('ada');
  world.endSession('1');
  expect([client.cursors(), client.closed]).toEqual([['ada|1'], { code: 4401, reason: 'The session has ended' }]);
});

describe('a channel', () => {
  it('no longer counts or exists after it is left', async () => {
    const client = world.connect();
    for (let ref = 1; ref <= 30; ref++) {
      expect(await client.join(String(ref), {}, `realtime:${ref}`)).toMatchObject({ status: 'ok' });
      client.leave(String(ref), `realtime:${ref}`);
    }
    client.send(['1', 'late', 'realtime:1', 'access_token', { access_token: 'bob.fresh.2' }]);
    expect(client.reply('late')?.response).toEqual({ reason: 'unmatched topic' });
  });

  it('answers heartbeats, presence, messages to topics that were not joined, and its leave', async () => {
    const client = await world.joined();
    const known = client.frames.length;
    client.send([null, '2', 'phoenix', 'heartbeat', {}]);
    client.send(['1', '3', TOPIC, 'presence', { type: 'presence', event: 'track', payload: {} }]);
    client.send(['9', '4', OTHER, 'broadcast', {}]);
    client.leave('1');
    const ok = { status: 'ok', response: {} };
    expect(client.frames.slice(known)).toEqual([
      [null, '2', 'phoenix', 'phx_reply', ok],
      ['1', '3', TOPIC, 'phx_reply', ok],
      ['9', '4', OTHER, 'phx_reply', { status: 'error', response: { reason: 'unmatched topic' } }],
      ['1', 'leave 1', TOPIC, 'phx_reply', ok],
      ['1', '1', TOPIC, 'phx_close', {}],
    ]);
  });

  it('waits for a new token if its token expires during the join', async () => {
    const client = await world.joined({ access_token: 'ada.ending.1' });
    world.commit('ada');
    expect(client.received()).toEqual([]);
  });

  it.each([
    [true, true],
    ['true', true],
    [false, false],
    [undefined, false],
  ])('reads nothing without bindings, and sends an empty presence state with %j: %s', async (enabled, isListed) => {
    const client = await world.joined({ config: { postgres_changes: [], presence: { enabled } } });
    expect(client.frames.slice(1)).toEqual(isListed ? [['1', null, TOPIC, 'presence_state', {}]] : []);
    expect(world.feed.owners()).toBe(0);
  });

  it.each(['fresh', 'fading'])(
    'is closed when its topic is joined again, even if that join is refused (%s token)',
    async (kind) => {
      const client = await world.joined({ access_token: `ada.${kind}.1` });
      expect(await client.join('2', { access_token: '' })).toMatchObject({ status: 'error' });
      expect(client.frames.at(-2)).toEqual(['1', '1', TOPIC, 'phx_close', {}]);
    },
  );

  it('is dropped silently if its topic is joined again before it was joined', async () => {
    world.isWaiting = true;
    const client = world.connect();
    for (const ref of ['1', '2']) await client.join(ref);
    await world.settle();
    expect(messages(client)).toEqual(['phx_reply', 'Subscribed to PostgreSQL']);
  });

  it('is closed if it can never be joined, so that its client gives up', async () => {
    const client = world.connect();
    await client.join('1', { config: { postgres_changes: [{ table: 'users' }] } });
    expect(messages(client)).toEqual(['phx_reply', 'phx_close']);
    expect(client.frames.at(-1)).toEqual(['1', '1', TOPIC, 'phx_close', {}]);
    await client.join('2', { config: { postgres_changes: [{ table: 'tasks', filter: 5 }] } });
    expect(messages(client)).toEqual(['phx_reply', 'phx_close', 'phx_reply']);
    expect(world.failures).toEqual(['refused', 'refused']);
    client.send(['9', '9', 'realtime:never', 'phx_leave', {}]);
    await world.settle();
    expect(messages(client).slice(3)).toEqual(['phx_reply']); // there is no channel to close
  });

  it('sends a change in one message for all bindings with the same columns, listing each once, and none without a match', async () => {
    const [all] = BINDINGS;
    const titles = { ...all, select: ['title'] };
    const client = await world.joined({
      config: { postgres_changes: [all, all, { ...all, event: 'INSERT' }, titles, { ...all, event: 'DELETE' }] },
    });
    await client.join('2', { config: { postgres_changes: [{ ...all, event: 'DELETE' }] } }, OTHER);
    const changes = client.reply('1')?.response as { postgres_changes?: { id: number }[] };
    const ids = changes.postgres_changes?.map(({ id }) => id) ?? [];
    world.commit('ada');
    const received = client.frames.flatMap(([, , , , payload]) => ('data' in payload ? [payload['ids']] : []));
    expect(received).toEqual([[ids[0], ids[2]], [ids[3]]]);
    expect(world.delivered).toHaveLength(1);
  });

  it('sends one cursor for changes that arrive together, and none if it is left before', async () => {
    const client = await world.joined({ resume: { since: world.cursor('ada', 0) } });
    for (let count = 0; count < 3; count++) world.commit('ada');
    await settled();
    expect(client.cursors()).toEqual(['ada|3']);
    world.commit('ada');
    await settled();
    expect(client.cursors()).toEqual(['ada|3', 'ada|4']);
    world.commit('ada');
    client.leave('1');
    await settled();
    expect(client.cursors()).toHaveLength(2);
  });
});
