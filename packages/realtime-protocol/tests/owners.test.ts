import { jest } from '@jest/globals';
import { createChannelWorld, settled, TOPIC } from './world.ts';

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => (world = createChannelWorld()));
afterEach(() => world.end());

const faded = () => world.joined({ access_token: 'ada.fading.1', resume: { since: world.unusableCursor } });

describe('a channel that is joined with a just-expired token', () => {
  it('sends nothing until a new token arrives, and then the changes it missed', async () => {
    world.commit('ada');
    world.commit('ada');
    const client = await world.joined({ access_token: 'ada.fading.1', resume: { since: world.cursor('ada', 1) } });
    expect([client.received(), world.held()]).toEqual([[], { sockets: 1, watchers: 0, subscriptions: 1 }]);
    await client.push('ada.fresh.2');
    expect([client.received(), world.held()]).toEqual([['ada#2'], { sockets: 1, watchers: 1, subscriptions: 1 }]);
  });

  it.each([
    ['cursors', { since: null }, ['ada|1', 'ada|3']],
    ['no cursors', undefined, []],
  ])('starts at its join, not at the arrival of the new token, if its client wants %s', async (_, resume, cursors) => {
    world.commit('ada');
    const client = await world.joined({ access_token: 'ada.fading.1', resume });
    world.commit('ada');
    world.commit('ada');
    expect([client.received(), client.cursors()]).toEqual([[], []]);
    await client.push('ada.fresh.2');
    await settled(); // a cursor is sent in a later turn
    expect([client.received(), client.cursors()]).toEqual([['ada#2', 'ada#3'], cursors]);
  });

  it.each([
    ['has no cursor yet', { since: null }, [false, true]],
    ['has a cursor', { since: 'ada|0' }, [true, true]],
    ['wants no cursors', undefined, [false, false]],
  ])('is not closed for its age while its client would miss changes: the client %s', async (_, resume, may) => {
    const client = await world.joined({ access_token: 'ada.fading.1', resume });
    const before = client.mayGrowOld();
    await client.push('ada.fresh.2');
    expect([before, client.mayGrowOld()]).toEqual(may);
  });

  it('is disconnected when more than 1 MiB of changes waits for the new token', async () => {
    const client = await world.joined({ access_token: 'ada.fading.1' });
    const commit = () => world.commit('ada', { title: 'x'.repeat(100_000) });
    for (let count = 0; count < 10; count++) commit();
    expect(client.closed).toBeUndefined();
    commit();
    expect(client.closed).toEqual({ code: 1013, reason: 'Too slow' });
    expect(world.held()).toEqual({ sockets: 0, watchers: 0, subscriptions: 0 });
  });

  describe('waiting for the new token', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => {
      world.end();
      jest.useRealTimers();
    });

    it('fails after a while, so that its client rejoins, and continues if it has arrived', async () => {
      const [client, other] = [await faded(), await faded()];
      await other.push('ada.fresh.2');
      jest.advanceTimersByTime(10_000);
      expect(client.frames.at(-1)).toEqual(['1', '1', TOPIC, 'phx_error', { code: 4401, reason: 'token expired' }]);
      await client.push('ada.fresh.2');
      world.commit('ada');
      expect([client.received(), other.received()]).toEqual([[], ['ada#1']]);
    });

    it('sends nothing more after it is left', async () => {
      const client = await faded();
      client.leave('1');
      const before = client.frames.length;
      jest.advanceTimersByTime(10_000);
      expect(client.frames).toHaveLength(before);
    });
  });

  it('leaves no reader behind if it is left before its cursor proves unusable', async () => {
    world.isWaiting = true;
    const client = world.connect();
    await client.join('1', { access_token: 'ada.fading.1', resume: { since: world.unusableCursor } });
    while (world.waiting[0]?.what === 'token') await world.release();
    expect(world.waiting).toMatchObject([{ what: 'feed', of: 'ada' }]);
    client.leave('1');
    const before = client.frames.length;
    await world.settle();
    expect(world.feed.owners()).toBe(0);
    world.commit('ada');
    expect(client.frames).toHaveLength(before);
  });
});

describe('a channel that receives another token', () => {
  it('delivers nothing more of the previous owner, even if their changes still arrive', async () => {
    const client = await world.joined();
    const [reader] = world.readers;
    await client.push('bob.fresh.2');
    reader?.onChange(world.commit('ada'));
    reader?.onEnd('expired');
    world.commit('bob');
    expect(client.received()).toEqual(['bob#1']);
  });

  it('keeps its owner if that is another user’s just-expired token, or the socket’s public key', async () => {
    const client = await world.joined();
    for (const token of ['bob.fading.2', 'public-key']) await client.push(token);
    for (const owner of ['ada', 'bob']) world.commit(owner);
    expect([client.received(), client.closed]).toEqual([['ada#1'], undefined]);
    const { response } = (await client.join('2', { access_token: 'public-key' })) ?? {};
    expect(response).toEqual({ reason: 'Unauthorized: access_token required' });
  });

  it('is closed with its socket if the token is invalid', async () => {
    const client = await world.joined();
    await client.push('ada.forged.2');
    world.commit('ada');
    expect([client.received(), client.closed]).toEqual([[], { code: 4401, reason: 'The token provided is not valid' }]);
  });
});

describe('a join', () => {
  it.each([1, 2])('never succeeds if the channel is left during it (%s steps are pending)', async (outstanding) => {
    world.isWaiting = true;
    const client = world.connect();
    await client.join('1');
    if (outstanding === 1) await world.release();
    client.leave('1');
    await world.settle();
    expect([client.reply('1'), world.feed.owners()]).toEqual([undefined, 0]);
  });

  it('is refused when the feed ends before the reply', async () => {
    const client = world.connect();
    const { subscribe } = world.feed;
    world.feed.subscribe = async (owner, after, reader) => {
      const detach = await subscribe(owner, after, reader);
      world.restore();
      return detach;
    };
    expect(await client.join('1')).toMatchObject({ status: 'error' });
    world.feed.subscribe = subscribe;
    await client.join('2');
    world.commit('ada');
    expect(client.received()).toEqual(['ada#1']);
  });

  it('is refused while too many joins are pending, even if they have been left', async () => {
    world.isWaiting = true;
    const client = world.connect();
    for (let ref = 1; ref <= 21; ref++) void client.join(String(ref));
    expect(client.reply('21')?.response?.reason).toMatch(/^ChannelRateLimitReached/);
    expect(world.failures).toEqual(['subscription_limit']);
    await world.settle();
    void client.join('22');
    await world.settle();
    expect(client.reply('22')?.status).toBe('ok');
  });

  it('holds a replay until the reply is sent', async () => {
    const client = world.connect();
    const { subscribe } = world.feed;
    let drained: number | undefined;
    const gate = Promise.withResolvers<void>();
    world.feed.subscribe = async (owner, after, reader) => {
      void reader.drained().then(() => (drained = client.frames.length));
      await gate.promise;
      return subscribe(owner, after, reader);
    };
    await client.join('1');
    expect(drained).toBeUndefined();
    gate.resolve();
    await settled();
    expect(drained).toBe(2); // the reply and the notice that the channel is subscribed
  });
});
