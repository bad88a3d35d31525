import { atEnd, eventually } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fetchGraphQL, startTestGateway, useGateway } from './fakes/gateway.ts';
import { connectGraphqlWs, openWebSocket, PROTOCOLS, streamBy, streamChannel, type Protocol } from './fakes/streams.ts';

const QUERY = 'subscription { taskChanges { sequence task { title } } }';

const WAYS = [
  ['/graphql', 'graphql-transport-ws'],
  ['/realtime/v1/websocket?apikey=key&vsn=2.0.0', undefined],
] as const;

let users = 0;
const newUser = () => `a0000000-0000-4000-8000-${String(++users).padStart(12, '0')}`;

const start = (token: string) => ({ origin: gateway.origin, token, query: QUERY });
const bearing = (token: string) => ({ accept: 'text/event-stream', authorization: `Bearer ${token}` });
const stream = (protocol: Protocol, token: string) => streamBy(protocol, start(token));
/** As large as events may be: a few of them fill all buffers along the way. Returns the last one. */
const flood = (user: string) => {
  const commit = () => gateway.commit(user, { title: 'x'.repeat(400_000) });
  return [commit(), commit()].at(-1);
};

const gateway = useGateway();
beforeEach(() => gateway.untilSubscriptions(0));
afterAll(() => gateway.untilSubscriptions(0));

it.each(PROTOCOLS)(
  'a client that does not read is disconnected, so that it reconnects (%s), while others continue',
  async (protocol) => {
    const user = newUser();
    const token = await gateway.auth.token(user);
    const slow = await stream(protocol, token);
    const other = await stream('sse', token);
    await gateway.untilSubscriptions(2);
    slow.pause();
    let last: { sequence: number } | undefined;
    await eventually(
      async () => {
        last = flood(user);
        await new Promise(setImmediate);
        expect(await gateway.subscriptions()).toBe(1);
      },
      { everyMs: 1 },
    );
    slow.resume();
    const isSocket = ['graphql-ws', 'channel'].includes(protocol);
    await eventually(() => expect(slow.ended).toEqual(isSocket ? { code: 1013 } : { isTorn: true }));
    expect(slow.errors).toEqual(protocol === 'channel' ? [{ message: 'Too slow' }] : []);
    const newest = () => other.events.at(-1)?.data?.taskChanges.sequence;
    await eventually(() => expect(newest()).toBe(last?.sequence)); // with the rest of the flood unread, one more would be too much
    const { sequence } = gateway.commit(user);
    await eventually(() => expect(newest()).toBe(sequence));
    await eventually(async () => expect(await gateway.figure('taskmesh_realtime_queue_bytes')).toBe(0));
  },
);

describe('a client that exceeds its limits', () => {
  it('gets 20 subscriptions on a socket, however fast it requests more', async () => {
    const client = await connectGraphqlWs(gateway.origin, await gateway.auth.token(newUser()));
    for (let count = 0; count < 40; count++) client.subscribe(String(count), QUERY);
    await eventually(() => expect(JSON.stringify(client.messages).match(/RATE_LIMITED/g)).toHaveLength(20));
    await gateway.untilSubscriptions(20);
  });

  it('gets 20 channels on a socket, however fast it requests more', async () => {
    const token = await gateway.auth.token(newUser());
    const { send, replies } = await stream('channel', token);
    const config = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
    for (let count = 2; count <= 40; count++)
      send(['1', String(count), `realtime:${count}`, 'phx_join', { config, access_token: token }]);
    await eventually(() => expect(Object.values(replies).filter((status) => status === 'error')).toHaveLength(20));
    await gateway.untilSubscriptions(20);
  });

  it('gets 20 sockets of channels, and another one when it closes one of them', async () => {
    const token = await gateway.auth.token(newUser());
    const [first] = await Promise.all(Array.from({ length: 20 }, () => stream('channel', token)));
    const again = await streamChannel(start(token));
    await eventually(() => expect(again.ended).toEqual({ code: 1013 }));
    expect(first?.ended).toBeUndefined();
    first?.close();
    await gateway.untilSubscriptions(19);
    expect((await stream('channel', token)).ended).toBeUndefined();
  });

  it('gets 20 streams, and frees the place of one that it cancelled before it began', async () => {
    const token = await gateway.auth.token(newUser());
    const { changes } = gateway.tasks;
    const { heads } = changes;
    const ask = async (signal: AbortSignal | null = null) => {
      const response = await fetchGraphQL(gateway.origin, { query: QUERY }, bearing(token), signal);
      atEnd(() => response.body?.cancel());
      return response.status;
    };
    for (let round = 0; round < 25; round++) {
      const abort = new AbortController();
      changes.heads = async (owners) => {
        abort.abort();
        await delay(20);
        return heads(owners);
      };
      // A stream begins at once if the owner's feed of the previous round still exists; it is cancelled then.
      expect([200, 'AbortError']).toContain(await ask(abort.signal).catch((error: Error) => error.name));
      abort.abort();
    }
    changes.heads = heads;
    // A place is free only once the gateway knows that its stream was cancelled.
    for (let count = 0; count < 20; count++) await eventually(async () => expect(await ask()).toBe(200));
    expect(await ask()).toBe(429);
  });

  it('shares the time for its messages with all sockets of its address, even one that connected later', async () => {
    const token = await gateway.auth.token(newUser());
    const busy = await Promise.all(Array.from({ length: 20 }, () => connectGraphqlWs(gateway.origin, token)));
    const quiet = await connectGraphqlWs(gateway.origin, await gateway.auth.token(newUser()));
    const heavy = Array.from({ length: 100 }, () => {
      const list = Array.from({ length: 2_200 }, (_, at) => ({ [`${randomBytes(3).toString('hex')}${at}`]: {} }));
      return JSON.stringify({ type: 'ping', payload: { list } });
    });
    let turns = 0;
    const timers = [
      setInterval(() => busy.forEach(({ socket }) => socket.send(heavy[++turns % 100] ?? '')), 51),
      setInterval(() => quiet.send({ type: 'ping' }), 100),
    ];
    await eventually(() => expect(quiet.messages.length).toBeGreaterThan(10)); // the first is no pong
    timers.forEach(clearInterval);
    const answered = busy.map(({ messages }) => messages.length);
    expect(Math.min(...answered)).toBeGreaterThan(Math.max(...answered) / 4);
    expect(quiet.closed).toBeUndefined();
  });

  it.each(WAYS)('is disconnected when it floods with unsolicited pongs, or pings: %s', async (path, protocol) => {
    const [ponging, pinging] = [
      await openWebSocket(gateway.origin + path, protocol),
      await openWebSocket(gateway.origin + path, protocol),
    ];
    const closings = [once(ponging, 'close'), once(pinging, 'close')];
    const payload = { authorization: `Bearer ${await gateway.auth.token(newUser())}` };
    // A busy machine takes longer than a socket may be open without.
    if (protocol) ponging.send(JSON.stringify({ type: 'connection_init', payload }));
    for (let count = protocol ? 1 : 0; count < 2_000; count++) ponging.pong();
    for (let count = 0; count < 250; count++) pinging.ping();
    // The library itself also cuts off sockets that ping faster than it can answer.
    expect([1013, 1006]).toContain((await closings[1])?.[0]);
    await delay(100);
    expect(ponging.readyState).toBe(ponging.OPEN);
    ponging.pong();
    expect((await closings[0])?.[0]).toBe(1006);
  });
});

it('hostile frames end at most their own socket', async () => {
  const user = newUser();
  const token = await gateway.auth.token(user);
  const others = await Promise.all(PROTOCOLS.map((protocol) => stream(protocol, token)));
  await gateway.untilSubscriptions(4);
  const logged = gateway.logged.length;
  for (const frame of hostileFrames(token))
    await Promise.all(
      [...WAYS, ['/realtime/v1/websocket?apikey=key&vsn=1.0.0', undefined] as const].map(async ([path, protocol]) => {
        const socket = await openWebSocket(`${gateway.origin}${path}`, protocol);
        const done = Promise.race([once(socket, 'close'), once(socket, 'pong')]);
        if (protocol)
          socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
        socket.send(frame);
        socket.ping();
        await done;
        socket.terminate();
      }),
    );
  gateway.commit(user, { title: 'still delivered' });
  for (const { events, ended } of others) {
    await eventually(() => expect(JSON.stringify(events)).toContain('still delivered'));
    expect(ended).toBeUndefined();
  }
  expect(gateway.logged.slice(logged).filter(({ level }) => level === 'error')).toEqual([]);
}, 180_000);

function hostileFrames(token: string): (string | Buffer)[] {
  const topic = 'realtime:tasks';
  const join = (payload: unknown) => JSON.stringify(['1', '1', topic, 'phx_join', payload]);
  const subscribe = (payload: unknown) => JSON.stringify({ id: '1', type: 'subscribe', payload });
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  return [
    `{"type":"ping","payload":{"a":${nested}}}`,
    '[null,null,null,null,null]',
    '{"__proto__":{"polluted":true}}',
    nested,
    randomBytes(1_000),
    Buffer.from([3, 1, 1, 1, 1, 0, 1, 49, 49, 116, 101, 123]),
    join({ config: null, access_token: token }),
    join({ config: { postgres_changes: nested }, access_token: token }),
    join({ config: { postgres_changes: [1, 'a', null, [], {}] }, access_token: token }),
    join({ config: { postgres_changes: [{ filter: {} }] }, access_token: { toString: 1 } }),
    join({ config: { broadcast: 1, presence: [] }, access_token: token, resume: 'x' }),
    join({ config: {}, access_token: token, resume: { since: '\u0000'.repeat(1_000) } }),
    JSON.stringify({ topic, event: 'phx_join', payload: 1, ref: {}, join_ref: [] }),
    JSON.stringify([{}, [], { a: 1 }, 7, 'payload']),
    subscribe({ query: QUERY, variables: 'x' }),
    subscribe({ query: 'subscription { __proto__ }', operationName: '__proto__' }),
    subscribe({ query: QUERY, extensions: { traceparent: { a: 1 } } }),
    JSON.stringify({ id: '__proto__', type: 'subscribe', payload: { query: QUERY } }),
    JSON.stringify({ type: 'connection_init', payload: { authorization: ['Bearer x'] } }),
  ];
}

it('an expired token ends each stream in the way of its protocol', async () => {
  const exp = Math.floor(Date.now() / 1000) + 2;
  const token = await gateway.auth.token(newUser(), { claims: { exp } });
  const streams = await Promise.all(PROTOCOLS.map((protocol) => stream(protocol, token)));
  for (const { ended } of streams) expect(ended).toBeUndefined();
  await eventually(() => expect(streams.filter(({ ended }) => !ended)).toEqual([]), { timeoutMs: 15_000 });
  expect(Date.now() / 1000).toBeGreaterThanOrEqual(exp);
  const failed = { ended: {}, errors: [expect.objectContaining({ extensions: { code: 'UNAUTHENTICATED' } })] };
  expect(streams.map(({ ended, errors }) => ({ ended, errors }))).toEqual([
    { ended: { code: 4403 }, errors: [] },
    failed,
    failed,
    { ended: { code: 4401 }, errors: [{ message: 'Token has expired' }] },
  ]);
});

it('a gateway that stops disconnects all clients over a second, accepts no new ones, and stops', async () => {
  let chances = 0;
  const other = await startTestGateway({ beside: gateway, random: () => (chances++ % 18) / 18 });
  const token = await gateway.auth.token(newUser());
  const protocols = (['graphql-ws', 'channel', 'sse'] as const).flatMap((each) => Array<Protocol>(6).fill(each));
  const streams = await Promise.all(protocols.map((each) => streamBy(each, { ...start(token), origin: other.origin })));
  const began = performance.now();
  const watching = streams.map((each) =>
    eventually(() => (expect(each.ended).toBeDefined(), performance.now() - began), { everyMs: 5 }),
  );
  const stopping = other.stop();
  await expect(openWebSocket(`${other.origin}/graphql`, 'graphql-transport-ws')).rejects.toThrow(/503|ECONN/);
  expect((await fetchGraphQL(other.origin, { query: QUERY }, bearing(token))).status).toBe(503);
  const endings = await Promise.all(watching);
  await stopping;
  for (const { ended, errors } of streams.slice(0, 12))
    expect([ended, errors]).toEqual([{ code: 1012 }, expect.anything()]);
  // Aborted without a final message, so that clients reconnect.
  for (const { errors } of streams.slice(12)) expect(errors).toEqual([]);
  expect(Math.max(...endings)).toBeGreaterThan(17_000 / 18 - 5);
  // Six different chances of eighteen.
  for (const first of [0, 6, 12]) expect(Math.max(...endings.slice(first, first + 6))).toBeGreaterThan(5_000 / 18 - 5);
  expect(performance.now() - began).toBeLessThan(5_000);
});
