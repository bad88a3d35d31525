import { jest } from '@jest/globals';
import type { ChangeReader } from '../src/options.ts';
import { createChannelWorld, settled, TOPIC } from './world.ts';

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => (world = createChannelWorld()));
afterEach(() => world.end());

const faded = () => world.joined({ access_token: 'ada.fading.1', resume: { since: world.unusableCursor } });

describe('a channel whose token had just run out when it was joined', () => {
  it('sends nothing until a fresh token comes, and then what it missed', async () => {
    world.commit('ada');
    world.commit('ada');
    const client = await world.joined({ access_token: 'ada.fading.1', resume: { since: world.cursor('ada', 1) } });
    expect([client.received(), world.held()]).toEqual([[], { places: 1, watchers: 0, subscriptions: 1 }]);
    await client.push('ada.fresh.2');
    expect([client.received(), world.held()]).toEqual([['ada#2'], { places: 1, watchers: 1, subscriptions: 1 }]);
  });

  it.each([
    ['cursors', { since: null }, ['ada|1', 'ada|3']],
    ['no cursors', undefined, []],
  ])(
    'begins where it was joined, not where the fresh token came, if its client wants %s',
    async (_, resume, cursors) => {
      world.commit('ada');
      const client = await world.joined({ access_token: 'ada.fading.1', resume });
      world.commit('ada');
      world.commit('ada');
      expect([client.received(), client.cursors()]).toEqual([[], []]);
      await client.push('ada.fresh.2');
      await settled(); // a cursor follows in a turn of its own
      expect([client.received(), client.cursors()]).toEqual([['ada#2', 'ada#3'], cursors]);
    },
  );

  it.each([
    ['knows no cursor yet', { since: null }, [false, true]],
    ['knows one', { since: 'ada|0' }, [true, true]],
    ['wants none', undefined, [false, false]],
  ])('keeps its connection however old, as long as its client would lose changes: it %s', async (_, resume, may) => {
    const client = await world.joined({ access_token: 'ada.fading.1', resume });
    const before = client.mayGrowOld();
    await client.push('ada.fresh.2');
    expect([before, client.mayGrowOld()]).toEqual(may);
  });

  it('fails when the store is restored meanwhile, so that its client joins again', async () => {
    const client = await world.joined({ access_token: 'ada.fading.1' });
    world.restore();
    expect(client.frames.at(-1)).toEqual(['1', '1', TOPIC, 'phx_error', {}]);
  });

  it('is refused when it is not known where it begins', async () => {
    world.isWaiting = true;
    const client = world.connect();
    client.join('1', { access_token: 'ada.fading.1' });
    await settled();
    world.waiting.shift()?.goOn();
    await settled();
    world.waiting.shift()?.fail();
    await settled();
    expect(client.reply('1')?.response?.reason).toMatch(/^UnableToSubscribe/);
  });

  describe('in time or not', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => {
      world.end();
      jest.useRealTimers();
    });

    it('fails when none comes, so that its client joins again', async () => {
      const client = await faded();
      jest.advanceTimersByTime(10_000);
      expect(client.frames.at(-1)).toEqual(['1', '1', TOPIC, 'phx_error', { code: 4401, reason: 'token expired' }]);
      await client.push('ada.fresh.2');
      world.commit('ada');
      expect(client.received()).toEqual([]);
    });

    it('continues when one came', async () => {
      const client = await faded();
      await client.push('ada.fresh.2');
      jest.advanceTimersByTime(10_000);
      world.commit('ada');
      expect(client.received()).toEqual(['ada#1']);
    });

    it('says nothing more when it was left', async () => {
      const client = await faded();
      client.leave('1');
      const before = client.frames.length;
      jest.advanceTimersByTime(10_000);
      expect(client.frames).toHaveLength(before);
    });
  });

  it('leaves no reader behind when it is left before its cursor turns out to be of no use', async () => {
    world.isWaiting = true;
    const client = world.connect();
    client.join('1', { access_token: 'ada.fading.1', resume: { since: world.unusableCursor } });
    await settled();
    while (world.waiting[0]?.what === 'token') await (world.waiting.shift()?.goOn(), settled());
    expect(world.waiting).toMatchObject([{ what: 'feed', of: 'ada' }]);
    client.leave('1');
    const before = client.frames.length;
    await world.settle();
    expect(world.feed.owners()).toBe(0);
    world.commit('ada');
    expect(client.frames).toHaveLength(before);
  });
});

describe('a channel that gets another token', () => {
  it('continues as it was when the token is its owner’s, also in the moment in which the former one runs out', async () => {
    world.commit('ada');
    const client = await world.joined({ resume: { since: world.cursor('ada', 0) } });
    world.commit('ada');
    world.pass(61_000);
    await client.push('ada.fresh.2');
    world.commit('ada');
    expect(client.received()).toEqual(['ada#1', 'ada#2', 'ada#3']);
  });

  it('is the last one’s, in any order in which the tokens are checked', async () => {
    const client = await world.joined();
    world.isWaiting = true;
    void client.push('bob.fresh.2');
    void client.push('eve.fresh.3');
    await world.settle('last');
    for (const owner of ['ada', 'bob', 'eve']) world.commit(owner);
    expect(client.received()).toEqual(['eve#1']);
  });

  it('delivers nothing more of the former owner, even when changes of theirs still arrive', async () => {
    const { subscribe } = world.feed;
    const readers: ChangeReader[] = [];
    world.feed.subscribe = (owner, after, reader) => {
      readers.push(reader);
      return subscribe(owner, after, reader);
    };
    const client = await world.joined();
    await client.push('bob.fresh.2');
    readers[0]?.onChange(world.commit('ada'));
    readers[0]?.onEnd('expired');
    world.commit('bob');
    expect(client.received()).toEqual(['bob#1']);
  });

  it('heeds none of an earlier join', async () => {
    const client = await world.joined();
    client.join('2', { access_token: 'ada.fresh.1' });
    await client.push('bob.fresh.2', '1');
    for (const owner of ['ada', 'bob']) world.commit(owner);
    expect(client.received()).toEqual(['ada#1']);
  });

  it('is still its owner’s when that is the key of its socket', async () => {
    const client = await world.joined();
    await client.push('public-key');
    world.commit('ada');
    expect([client.received(), client.closed]).toEqual([['ada#1'], undefined]);
    client.join('2', { access_token: 'public-key' });
    await settled();
    expect(client.reply('2')?.response).toEqual({ reason: 'Unauthorized: access_token required' });
  });

  it('ends with its socket when the token does not count', async () => {
    const client = await world.joined();
    await client.push('ada.forged.2');
    world.commit('ada');
    expect([client.received(), client.closed]).toEqual([[], { code: 4401, reason: 'The token provided is not valid' }]);
  });
});

describe('a channel that is left', () => {
  it('is not ended by the one who leaves an earlier join of its topic', async () => {
    const client = await world.joined();
    client.join('2', { access_token: 'ada.fresh.1' });
    client.leave('1');
    await settled();
    world.commit('ada');
    expect(client.received()).toEqual(['ada#1']);
    expect(client.reply('leave 1')).toMatchObject({ status: 'ok' });
    client.leave('2');
    world.commit('ada');
    expect(client.received()).toEqual(['ada#1']);
  });

  it.each([1, 2])('before it was joined stays so (%s answers are outstanding)', async (outstanding) => {
    world.isWaiting = true;
    const client = world.connect();
    client.join('1', { access_token: 'ada.fresh.1' });
    await settled();
    if (outstanding === 1) await (world.waiting.shift()?.goOn(), settled());
    client.leave('1');
    await world.settle();
    expect([client.reply('1'), world.feed.owners()]).toEqual([undefined, 0]);
  });
});

describe('a join', () => {
  it('is refused when the feed ends before it is answered', async () => {
    const client = world.connect();
    const { subscribe } = world.feed;
    world.feed.subscribe = async (owner, after, reader) => {
      const detach = await subscribe(owner, after, reader);
      world.restore();
      return detach;
    };
    client.join('1', { access_token: 'ada.fresh.1' });
    await settled();
    expect(client.reply('1')).toMatchObject({ status: 'error' });
    world.feed.subscribe = subscribe;
    client.join('2', { access_token: 'ada.fresh.1' });
    await settled();
    world.commit('ada');
    expect(client.received()).toEqual(['ada#1']);
  });

  it('is refused when too many before it have no answer yet, whether they are still wanted or not', async () => {
    world.isWaiting = true;
    const client = world.connect();
    for (let ref = 1; ref <= 21; ref++) client.join(String(ref), { access_token: 'ada.fresh.1' });
    expect(client.reply('21')?.response?.reason).toMatch(/^ChannelRateLimitReached/);
    expect(world.failures).toEqual(['subscription_limit']);
    await world.settle();
    client.join('22', { access_token: 'ada.fresh.1' });
    await world.settle();
    expect(client.reply('22')?.status).toBe('ok');
  });

  it('keeps a replay waiting until it is answered', async () => {
    const client = world.connect();
    const { subscribe } = world.feed;
    let drained: number | undefined;
    const gate = Promise.withResolvers<void>();
    world.feed.subscribe = async (owner, after, reader) => {
      void reader.drained().then(() => (drained = client.frames.length));
      await gate.promise;
      return subscribe(owner, after, reader);
    };
    client.join('1', { access_token: 'ada.fresh.1' });
    await settled();
    expect(drained).toBeUndefined();
    gate.resolve();
    await settled();
    expect(drained).toBe(2); // the reply, and the notice that it is live
  });

  it('reports that its cursor cannot be used before it sends a change', async () => {
    const client = await world.joined({ resume: { since: world.unusableCursor } });
    world.commit('ada');
    const events = client.frames.map(([, , , event, { message }]) => message ?? event);
    expect(events).toEqual(['phx_reply', 'Subscribed to PostgreSQL', 'CURSOR_EXPIRED', 'cursor', 'postgres_changes']);
    expect(world.failures).toEqual(['cursor_expired']);
  });
});
