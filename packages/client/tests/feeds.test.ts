import type { FeedEnd, OpenFeed } from '../src/feed/feed.ts';
import { createSocketFeed } from '../src/feed/graphql-ws.ts';
import { createSseFeed } from '../src/feed/sse.ts';
import { createManualTime, settled } from './support/manual-time.ts';

const URL = 'http://127.0.0.1:4000/graphql';
const change = (sequence: number) => ({
  cursor: `c${sequence}`,
  sequence,
  kind: 'INSERT',
  task: { id: 't' },
  previous: null,
});
const result = (sequence: number) => ({ data: { taskChanges: change(sequence) } });
const failure = (code: string, more: object = {}) => ({ errors: [{ message: code, extensions: { code, ...more } }] });

/** Returns a function that subscribes to the feed and records what it delivers. */
const subscriberOf =
  (openFeed: OpenFeed) =>
  (variables: Parameters<OpenFeed>[0] = {}) => {
    const seen: (number | string | undefined)[] = [];
    const ends: FeedEnd[] = [];
    const stop = openFeed(variables, {
      onSubscribed: () => void seen.push('stands'),
      onChange: ({ sequence }, traceparent) => void seen.push(traceparent ?? sequence),
      onEnd: (end) => void ends.push(end),
    });
    return { seen, ends, stop };
  };

const ENDS: [what: string, result: object, end: FeedEnd][] = [
  ['CURSOR_EXPIRED', failure('CURSOR_EXPIRED'), { reason: 'expired' }],
  ['UNAUTHENTICATED', failure('UNAUTHENTICATED'), { reason: 'unauthenticated', token: 'token' }],
  ['RATE_LIMITED', failure('RATE_LIMITED', { retryAfterSeconds: 7 }), { reason: 'cut', retryAfterMs: 7_000 }],
  ['FORBIDDEN, as during an update', failure('FORBIDDEN'), { reason: 'cut', retryAfterMs: 0 }],
  ['an internal error', failure('INTERNAL_SERVER_ERROR'), { reason: 'cut', retryAfterMs: 0 }],
  [
    'BAD_USER_INPUT',
    failure('BAD_USER_INPUT'),
    { reason: 'refused', error: expect.objectContaining({ code: 'BAD_USER_INPUT' }) },
  ],
];

describe('the feed over a WebSocket', () => {
  function createWorld() {
    const time = createManualTime();
    const sockets: Socket[] = [];
    const signedIn = { userId: 'ada' as string | undefined, token: 'token' as string | undefined };
    class Socket {
      static readonly OPEN = WebSocket.OPEN;
      readyState: number = WebSocket.CONNECTING;
      readonly sent: { type: string; id?: string; payload?: { variables?: object } }[] = [];
      isClosed = false;
      onopen = () => {};
      onmessage = (_: { data: string }) => {};
      onclose = (_: { code: number }) => {};
      constructor(url: string, protocol: string) {
        expect([url, protocol]).toEqual(['ws://127.0.0.1:4000/graphql', 'graphql-transport-ws']);
        sockets.push(this);
      }
      say(message: object) {
        this.onmessage({ data: JSON.stringify(message) });
      }
      fall(code: number) {
        this.readyState = WebSocket.CLOSED;
        this.onclose({ code });
      }
      send(text: string) {
        expect(this.readyState).toBe(WebSocket.OPEN); // a browser throws before, and logs an error afterwards
        this.sent.push(JSON.parse(text) as Socket['sent'][number]);
      }
      close() {
        this.isClosed = true;
        this.fall(1000);
      }
    }
    const openFeed = createSocketFeed({
      url: URL,
      token: async () => signedIn.token,
      userId: () => signedIn.userId,
      WebSocket: Socket as unknown as typeof WebSocket, // only the part that is used
      time,
    });
    const connected = async () => {
      await settled();
      const socket = sockets.at(-1);
      if (!socket) throw new Error('no socket was opened');
      socket.readyState = WebSocket.OPEN;
      socket.onopen();
      socket.say({ type: 'connection_ack' });
      return socket;
    };
    return { time, sockets, signedIn, subscribe: subscriberOf(openFeed), connected };
  }

  it('shares one authenticated socket between subscriptions and delivers to each its own events', async () => {
    const { subscribe, connected, sockets } = createWorld();
    const [one, two] = [subscribe({ after: 'a' }), subscribe({ after: 'b' })];
    const socket = await connected();
    expect(sockets).toHaveLength(1);
    expect(socket.sent[0]).toEqual({ type: 'connection_init', payload: { authorization: 'Bearer token' } });
    expect(socket.sent.slice(1).map(({ id, payload }) => [id, payload?.variables])).toEqual([
      ['1', { after: 'a' }],
      ['2', { after: 'b' }],
    ]);
    socket.say({ id: '2', type: 'next', payload: { ...result(5), extensions: { traceparent: 'trace' } } });
    socket.say({ id: '1', type: 'next', payload: result(6) });
    expect([one.seen, two.seen]).toEqual([
      ['stands', 6],
      ['stands', 'trace'],
    ]);
  });

  it.each(ENDS)('ends only the subscription on %s, not the socket', async (_what, payload, end) => {
    const { subscribe, connected } = createWorld();
    const [one, two] = [subscribe(), subscribe()];
    const socket = await connected();
    socket.say({ id: '1', type: 'next', payload });
    socket.say({ id: '1', type: 'next', payload: result(1) });
    socket.say({ id: '2', type: 'next', payload: result(1) });
    expect(one).toMatchObject({ seen: ['stands'], ends: [end] });
    expect(two).toMatchObject({ seen: ['stands', 1], ends: [] });
  });

  it.each([
    [4403, { reason: 'unauthenticated', token: 'token' }],
    [1013, { reason: 'cut', retryAfterMs: 0 }],
    [1006, { reason: 'cut', retryAfterMs: 0 }],
  ] as [number, FeedEnd][])('ends all subscriptions when the socket closes with %i', async (code, end) => {
    const { subscribe, connected } = createWorld();
    const [one, two] = [subscribe(), subscribe()];
    (await connected()).fall(code);
    expect([one.ends, two.ends]).toEqual([[end], [end]]);
  });

  it('sends nothing while the server closes the socket, and opens another for a new subscription', async () => {
    const { subscribe, connected, sockets, time } = createWorld();
    const [one, two] = [subscribe(), subscribe()];
    const socket = await connected();
    const sent = socket.sent.length;
    socket.readyState = WebSocket.CLOSING; // the server's close frame has arrived; the browser reports the close later
    one.stop();
    socket.say({ id: '2', type: 'next', payload: failure('UNAUTHENTICATED') });
    socket.say({ type: 'ping' });
    const three = subscribe();
    await time.pass(13_000);
    expect(socket.sent).toHaveLength(sent);
    expect(sockets).toHaveLength(2);
    socket.fall(4403);
    expect([one.ends, two.ends]).toEqual([[], [{ reason: 'unauthenticated', token: 'token' }]]);
    (await connected()).say({ id: '1', type: 'next', payload: result(1) });
    expect(three).toMatchObject({ seen: ['stands', 1], ends: [] });
  });

  it.each([
    ['the usual limit of the server', 20, 'RATE_LIMITED', 2],
    ['a lower limit', 3, 'RATE_LIMITED', 2],
    ['no limit, but where the server has failed', 3, 'INTERNAL_SERVER_ERROR', 1],
  ])('opens another socket for a subscription beyond %s', async (_what, limit, code, count) => {
    const { subscribe, connected, sockets } = createWorld();
    for (let at = 0; at < limit; at++) subscribe();
    const socket = await connected();
    const next = subscribe();
    if (limit < 20) {
      socket.say({ id: String(limit + 1), type: 'error', payload: failure(code, { retryAfterSeconds: 1 }).errors });
      expect(next.ends).toEqual([{ reason: 'cut', retryAfterMs: 1_000 }]);
      subscribe();
    }
    expect(socket.sent.filter(({ type }) => type === 'subscribe').length).toBeLessThanOrEqual(20);
    await settled();
    expect(sockets).toHaveLength(count);
  });

  it('treats silence as a lost connection, unless pongs arrive, also before the socket opens', async () => {
    const never = createWorld();
    const unopened = never.subscribe();
    await never.time.pass(31_000);
    expect(unopened.ends).toEqual([{ reason: 'cut', retryAfterMs: 0 }]);
    const { subscribe, connected, time } = createWorld();
    const { ends } = subscribe();
    const socket = await connected();
    for (let times = 0; times < 10; times++) {
      await time.pass(13_000);
      socket.say({ type: 'pong' });
    }
    expect(ends).toEqual([]);
    expect(socket.sent.filter(({ type }) => type === 'ping').length).toBeGreaterThanOrEqual(10);
    await time.pass(31_000);
    expect(ends).toEqual([{ reason: 'cut', retryAfterMs: 0 }]);
    expect(socket.isClosed).toBe(true);
  });

  it('pings while messages arrive, and not from timers alone, which browsers delay in hidden pages', async () => {
    const { subscribe, connected, time } = createWorld();
    subscribe();
    const socket = await connected();
    const pings = () => socket.sent.filter(({ type }) => type === 'ping').length;
    await time.pass(26_000);
    expect(pings()).toBe(1);
    for (let times = 0; times < 6; times++) {
      socket.say({ id: '1', type: 'next', payload: result(times) });
      await time.pass(5_000);
    }
    expect(pings()).toBe(3);
  });

  it('delivers nothing to a stopped subscription, and closes the socket after the last one', async () => {
    const { subscribe, connected, time } = createWorld();
    const { seen, ends, stop } = subscribe();
    const socket = await connected();
    stop();
    socket.say({ id: '1', type: 'next', payload: result(1) });
    expect(socket.sent.at(-1)).toEqual({ id: '1', type: 'complete' });
    await time.pass(2_000);
    expect(socket.isClosed).toBe(true);
    expect({ seen, ends }).toEqual({ seen: ['stands'], ends: [] });
  });

  it('never reuses the socket of one user for another', async () => {
    const { subscribe, connected, sockets, signedIn } = createWorld();
    const { stop } = subscribe();
    await connected();
    stop();
    Object.assign(signedIn, { userId: 'eve', token: 'token of eve' });
    subscribe();
    const socket = await connected();
    expect(sockets).toHaveLength(2);
    expect(socket.sent[0]?.payload).toEqual({ authorization: 'Bearer token of eve' });
  });

  it('reports unauthenticated without opening a socket when no one is signed in', async () => {
    const { subscribe, sockets, signedIn } = createWorld();
    signedIn.token = undefined;
    const { ends } = subscribe();
    await settled();
    expect(ends).toEqual([{ reason: 'unauthenticated', token: undefined }]);
    expect(sockets).toEqual([]);
  });
});

describe('the feed over server-sent events', () => {
  function createWorld(status = 200, headers: Record<string, string> = {}, text = '') {
    const time = createManualTime();
    const requests: RequestInit[] = [];
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({ start: (it) => void (controller = it) });
    const fetch = (async (_url: string, init: RequestInit) => {
      requests.push(init);
      init.signal?.addEventListener('abort', () => controller?.error(new Error('torn')));
      return new Response(status === 200 ? body : text, { status, headers });
    }) as typeof globalThis.fetch;
    const openFeed = createSseFeed({ url: URL, token: async () => 'token', fetch, time });
    const say = async (text: string) => {
      controller?.enqueue(new TextEncoder().encode(text));
      await settled();
    };
    return { time, requests, subscribe: subscriberOf(openFeed), say };
  }
  const event = (payload: object) => `event: next\nid: c\ndata: ${JSON.stringify(payload)}\n\n`;

  it('parses changes from a stream that is split anywhere, with characters that JavaScript treats as line ends', async () => {
    const { subscribe, say, requests } = createWorld();
    const { seen } = subscribe({ after: 'a' });
    await settled();
    expect(requests[0]?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer token' });
    const titled = { data: { taskChanges: { ...change(2), task: { id: 't', title: 'a\u2028b\u2029c\u0085d' } } } };
    for (const piece of `:\n\n${event(result(1))}id: c2\n\n${event(titled)}`.match(/.{1,7}/gs) ?? []) await say(piece);
    expect(seen).toEqual(['stands', 1, 2]);
  });

  it.each(ENDS)('ends the subscription on %s', async (_what, payload, end) => {
    const { subscribe, say } = createWorld();
    const { ends } = subscribe();
    await settled();
    await say(`${event(payload)}event: complete\ndata:\n\n`);
    expect(ends).toEqual([end]);
  });

  type Refusal = [string, number, Record<string, string>, object | undefined, FeedEnd];
  it.each<Refusal>([
    ['401 of a proxy', 401, {}, undefined, { reason: 'cut', retryAfterMs: 0 }],
    ['503', 503, { 'retry-after': '3' }, undefined, { reason: 'cut', retryAfterMs: 3_000 }],
    ...ENDS.map(([what, result, end]): Refusal => [what, what === 'UNAUTHENTICATED' ? 401 : 400, {}, result, end]),
  ])('ends on a response with %s', async (_what, status, headers, response, end) => {
    const { subscribe } = createWorld(status, headers, JSON.stringify(response));
    const { ends } = subscribe();
    await settled();
    expect(ends).toEqual([end]);
  });

  it('treats silence as a lost connection, unless heartbeats arrive', async () => {
    const { subscribe, say, time } = createWorld();
    const { ends } = subscribe();
    await settled();
    for (let times = 0; times < 5; times++) {
      await time.pass(25_000);
      await say(':\n\n');
    }
    expect(ends).toEqual([]);
    await time.pass(31_000);
    expect(ends).toEqual([{ reason: 'cut', retryAfterMs: 0 }]);
  });

  it('delivers nothing to a stopped subscription', async () => {
    const { subscribe, say } = createWorld();
    const { seen, ends, stop } = subscribe();
    await settled();
    stop();
    await say(event(result(1))).catch(() => undefined);
    await settled();
    expect({ seen, ends }).toEqual({ seen: ['stands'], ends: [] });
  });
});
