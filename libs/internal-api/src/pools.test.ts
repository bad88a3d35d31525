import { atEnd, eventually, listen } from '@taskmesh/testing';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createResponseBudget, createServicePool, type PostRequest, type ServicePool } from './pools.ts';

const arrived: string[] = [];
let handle: RequestListener;
let pool: ServicePool;

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    arrived.push(body);
    handle(request, response);
  });
});
const { url: origin } = await listen(server);
beforeEach(() => {
  arrived.length = 0;
  handle = (_request, response) => response.end('answer');
  pool = createServicePool(origin, { connections: 1 });
});
afterEach(() => pool.destroy());

const post = (body: string, changes: Partial<PostRequest> = {}, to = pool) =>
  to.post({ path: '/', headers: {}, body, timeoutMs: 30_000, idempotent: false, ...changes });

/** Requests wait until the returned function is called. */
function hold() {
  const held: ServerResponse[] = [];
  let isReleased = false;
  handle = (_request, response) => (isReleased ? response.end('answer') : held.push(response));
  return () => {
    isReleased = true;
    for (const response of held) response.end('answer');
  };
}

const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, retryAfterSeconds: 1 };

describe('while all connections are busy', () => {
  it('a request that times out is never sent', async () => {
    const release = hold();
    const first = post('first');
    await eventually(() => expect(arrived).toEqual(['first']));
    await expect(post('too late', { timeoutMs: 20 })).rejects.toMatchObject(UNAVAILABLE);
    const last = post('last');
    release();
    expect(await Promise.all([first, last])).toMatchObject([
      { status: 200, text: 'answer' },
      { status: 200, text: 'answer' },
    ]);
    expect(arrived).toEqual(['first', 'last']);
  });

  it.each([true, false])(
    'a request whose caller has disconnected is never sent (idempotent: %s)',
    async (idempotent) => {
      const release = hold();
      const first = post('first');
      await eventually(() => expect(arrived).toEqual(['first']));
      const caller = new AbortController();
      const gone = post('gone', { signal: caller.signal, idempotent });
      const last = post('last');
      caller.abort();
      await expect(gone).rejects.toMatchObject(UNAVAILABLE);
      release();
      await Promise.all([first, last]);
      expect(arrived).toEqual(['first', 'last']);
    },
  );

  it.each([
    ['half of them', 'network', [{ network: '2001:db8:1:0::/64' }], 18, 8],
    ['a quarter of them', 'network, that count twice', [{ network: '2001:db8:1:0::/64', weight: 2 }], 18, 4],
    ['an eighth of them', 'network, that count four times', [{ network: '2001:db8:1:0::/64', weight: 4 }], 18, 2],
    ['three quarters of them', 'site', [0, 1].map((at) => ({ network: `2001:db8:1:${at}::/64` })), 18, 12],
    ['an eighth of them', 'account', [0, 1].map((at) => ({ network: `192.0.2.${at}`, account: 'ada' })), 18, 2],
    ['as many as they need', 'process', [{}], 15, 15],
  ])('requests use %s if they are of one %s', async (_share, _of, asking, asked, running) => {
    const large = createServicePool(origin, { connections: 16 });
    atEnd(() => large.destroy());
    const release = hold();
    const ofOne = (at: number) => asking[at % asking.length];
    const all = Array.from({ length: asked }, (_, at) => post('one', ofOne(at), large));
    all.push(post('other', { network: '192.0.2.9' }, large));
    await expect(post('gone', { ...ofOne(0), timeoutMs: 20 }, large)).rejects.toMatchObject(UNAVAILABLE);
    await eventually(() =>
      expect(arrived.toSorted()).toEqual([...Array.from({ length: running }, () => 'one'), 'other']),
    );
    release();
    await Promise.all(all);
    expect(arrived).toHaveLength(asked + 1); // all but the one that was gone
  });

  it('waiting requests fail when the pool is destroyed', async () => {
    hold();
    const all = ['first', 'second', 'third'].map((body) => post(body));
    await eventually(() => expect(arrived).toEqual(['first']));
    const outcomes = Promise.allSettled(all);
    await pool.destroy();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.objectContaining(UNAVAILABLE) });
    expect(arrived).toEqual(['first']);
  });
});

it('a request in flight releases its connection, however it ends', async () => {
  const caller = new AbortController();
  for (let round = 0; round < 3; round++) {
    hold();
    await expect(post('slow', { timeoutMs: 50 })).rejects.toMatchObject(UNAVAILABLE);
    handle = (request) => request.socket.destroy();
    await expect(post('torn')).rejects.toMatchObject(UNAVAILABLE);
    await expect(post('torn twice', { idempotent: true })).rejects.toMatchObject(UNAVAILABLE);
    await expect(post('gone', { signal: AbortSignal.abort() })).rejects.toMatchObject(UNAVAILABLE);
    handle = (_request, response) => response.end('answer');
    expect(await post('well', { signal: caller.signal })).toMatchObject({ text: 'answer' });
  }
  expect(arrived.filter((body) => body === 'gone')).toEqual([]);
  expect(arrived.filter((body) => body === 'torn')).toHaveLength(3);
  expect(arrived.filter((body) => body === 'torn twice')).toHaveLength(6);
});

it('a request that times out while the connection is being opened is never sent', async () => {
  const resolved = Promise.withResolvers<void>();
  const url = new URL(origin);
  url.hostname = 'slow.test';
  const named = createServicePool(url.origin, {
    connections: 1,
    lookup: (_host, _options, done) =>
      void resolved.promise.then(() => done(null, [{ address: '127.0.0.1', family: 4 }])),
  });
  await expect(post('given up', { timeoutMs: 50 }, named)).rejects.toMatchObject(UNAVAILABLE);
  resolved.resolve();
  expect(await post('later', {}, named)).toMatchObject({ text: 'answer' });
  expect(arrived).toEqual(['later']);
  await named.destroy();
});

it('tries again when one of several processes behind an address refuses, as it starts or ends', async () => {
  const url = new URL(origin);
  url.hostname = 'several.test';
  let tries = 0;
  const named = createServicePool(url.origin, {
    connections: 1,
    lookup: (_host, _options, done) => done(null, [{ address: tries++ < 2 ? '127.0.0.2' : '127.0.0.1', family: 4 }]),
  });
  expect(await post('once', { idempotent: false }, named)).toMatchObject({ text: 'answer' });
  expect([tries, arrived]).toEqual([3, ['once']]);
  await named.destroy();
});

it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE'])(
  'a service that cannot be reached (%s) is unavailable',
  async (code) => {
    const unreachable = createServicePool('http://service.test', {
      lookup: (_host, _options, done) => done(Object.assign(new Error(code), { code }), []),
    });
    for (const idempotent of [true, false])
      await expect(post('x', { idempotent }, unreachable)).rejects.toMatchObject(UNAVAILABLE);
    await unreachable.destroy();
  },
);

it('aborts the largest response if all together exceed the budget, and completes the others', async () => {
  const held: ServerResponse[] = [];
  handle = (_request, response) => {
    held.push(response);
    response.write('x'.repeat(Number(arrived.at(-1))));
  };
  const budget = createResponseBudget(1_000_000);
  const pools = [createServicePool(origin, { budget }), createServicePool(origin, { budget })] as const;
  const small = post('400000', {}, pools[0]);
  await eventually(() => expect(held).toHaveLength(1));
  const begun = performance.now();
  await expect(post('700000', { timeoutMs: 10_000 }, pools[1])).rejects.toMatchObject(UNAVAILABLE);
  expect(performance.now() - begun).toBeLessThan(9_000);
  held[0]?.end();
  expect((await small).text).toHaveLength(400_000);
  const next = post('900000', {}, pools[1]);
  await eventually(() => expect(held).toHaveLength(3));
  held[2]?.end();
  expect((await next).text).toHaveLength(900_000);
  for (const each of pools) await each.destroy();
});

it.each([true, false])(
  'reports the size of a large response as soon as it is known (length: %s), and lets the caller refuse it',
  async (hasLength) => {
    const text = 'x'.repeat(4 * 1024 * 1024);
    handle = (_request, response) => {
      if (hasLength) response.setHeader('content-length', text.length);
      else response.flushHeaders();
      response.end(text);
    };
    const asked: number[] = [];
    const onLarge = (bytes: number) => void asked.push(bytes);
    expect((await post('large', { onLarge })).text).toHaveLength(text.length);
    const refuse = () => {
      throw new Error('no room');
    };
    await expect(post('large', { onLarge: refuse })).rejects.toThrow('no room');
    handle = (_request, response) => response.end('small');
    expect((await post('small', { onLarge: refuse })).text).toBe('small');
    expect(asked.reduce((sum, bytes) => sum + bytes)).toBe(text.length);
    expect(asked.length === 1).toBe(hasLength);
  },
);
