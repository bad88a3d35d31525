import { closed, eventually } from '@taskmesh/testing';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestGateway, useGateway, withLargeTask } from './fakes/gateway.ts';
import { HANDSHAKE, openRaw, rawGraphQL, rawRequest, rawResponse } from '@taskmesh/testing/raw';
import { holdExecution } from './fakes/tasks.ts';

const MIB = 1024 * 1024;
let executed = 0;

/** A task of 8 MiB, more than any buffer along the way can hold. */
const LARGE = `/graphql?query=${encodeURIComponent('{ task(id: "1") { title } }')}`;
const wrap = withLargeTask(8, async () => {
  executed++;
  await sleep(20);
});

const gateway = await startTestGateway({ env: { HOST: 'localhost' }, wrap });
const { token } = gateway;

const raw = (text: string) => rawResponse(gateway.origin, text);

const STREAM = rawGraphQL(
  { query: 'subscription { taskChanges { cursor } }' },
  ...['Accept: text/event-stream', `Authorization: Bearer ${token}`],
);

/** Sends pieces until the gateway closes the connection; resolves with the response and the bytes sent. */
async function upload(head: string, { piece, everyMs }: { piece: Buffer; everyMs: number }) {
  const socket = await openRaw(gateway.origin, rawRequest(head, [`Content-Length: ${1024 * MIB}`]));
  while (!socket.destroyed && socket.bytesWritten < 512 * MIB)
    if (socket.write(piece) || !(await drained(socket))) await sleep(everyMs);
  socket.destroy();
  return { status: /^HTTP\/1\.1 (\d+)/.exec(socket.response)?.[1], sentBytes: socket.bytesWritten };
}
const drained = (socket: Socket) =>
  Promise.race([new Promise((resolve) => socket.once('drain', () => resolve(true))), closed(socket).then(() => false)]);

/** Sends little, and is cut off after seconds: it begins before all tests. */
const slowUpload = (async () => {
  const begunMs = performance.now();
  const { status } = await upload('POST /nope', { piece: Buffer.from('x'), everyMs: 50 });
  return { status, tookMs: performance.now() - begunMs };
})();

it('opens one server, even if its host name has two addresses', () => {
  expect(new URL(gateway.origin).hostname).toBe('127.0.0.1');
});

const get = (path: string, ...headers: string[]) => rawRequest(`GET ${path}`, ['Connection: close', ...headers]);

it('reads 1,024 characters of Accept', async () => {
  const path = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
  const accepting = (others: number) => raw(get(path, `Accept: ${'text/plain,'.repeat(others)}application/json`));
  expect(await accepting(80)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await accepting(100)).toMatch(/^HTTP\/1\.1 406 /);
});

it('accepts 100 headers in a request', async () => {
  const headers = (count: number) => Array.from({ length: count }, (_, at) => `x-${at}: 1`);
  expect(await raw(get('/livez', ...headers(98)))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw(get('/livez', ...headers(99)))).toMatch(/^HTTP\/1\.1 431 [^]*"code":"PAYLOAD_TOO_LARGE"/);
});

it('accepts a request without a host in HTTP/1.0', async () => {
  expect(await raw('GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

it('a page on this machine may not call in production, unless its origin is configured', async () => {
  const production = await startTestGateway({
    env: { NODE_ENV: 'production', BACKUP_TOKEN: 'x'.repeat(40), CORS_ORIGINS: 'http://localhost:5173' },
  });
  for (const origin of ['http://localhost:5173', 'https://localhost', 'http://127.8.0.1', 'http://[::1]:8080']) {
    const { headers } = await fetch(`${production.origin}/livez`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin === 'http://localhost:5173' ? origin : null);
  }
});

it('bytes that are not HTTP, after a request whose response is being written, only end the connection', async () => {
  const socket = await openRaw(gateway.origin, STREAM);
  await eventually(() => socket.response.includes('text/event-stream'));
  socket.write('no HTTP at all\r\n\r\n');
  await closed(socket);
  expect(socket.response.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

describe('pipelined requests', () => {
  beforeEach(() => (executed = 0));

  const request = (path: string) => rawRequest(`GET ${path}`, [`Authorization: Bearer ${token}`]);
  const open = (text: string) => openRaw(gateway.origin, text);

  it('are ended by bytes after them that are not HTTP, before the response has begun', async () => {
    const socket = await open(`${request(LARGE)}no HTTP at all\r\n\r\n`);
    await closed(socket);
    expect(socket.response).toBe('');
  });

  it('wait for a stream as long as it lasts, and take no memory', async () => {
    const before = process.memoryUsage.rss();
    const socket = await open(STREAM + request(LARGE).repeat(8));
    await eventually(() => expect(socket.response).toContain('text/event-stream'));
    await sleep(1_000);
    expect(executed).toBe(0);
    expect((process.memoryUsage.rss() - before) / MIB).toBeLessThan(100);
  });

  it.each([LARGE, '/%'])('end the connection if there are more than 8: GET %s', async (path) => {
    await closed(await open(STREAM + request(path).repeat(9)));
    expect(executed).toBe(0);
  });

  it('end the connection if one is an upgrade', async () => {
    const socket = await open(
      request(LARGE) + rawRequest('GET /graphql', [...HANDSHAKE, 'Sec-WebSocket-Protocol: graphql-transport-ws']),
    );
    await closed(socket);
    expect(socket.response).toBe('');
  });
});

describe('a gateway with clients that read nothing', () => {
  const impatient = useGateway({ env: { REQUEST_TIMEOUT_S: '1' }, wrap });

  it('disconnects them when their response waits in memory', async () => {
    const request = rawRequest(`GET ${LARGE}`, [`Authorization: Bearer ${impatient.token}`]);
    const socket = (await openRaw(impatient.origin, request)).pause();
    // A destroyed peer resets the connection at the next byte, so this shows without reading anything. Bytes that arrive
    // prolong the timeout.
    const probe = setInterval(() => socket.write('\r\n'), 1_500);
    await new Promise((resolve) => socket.once('error', resolve));
    clearInterval(probe);
  });

  it('does not disconnect clients whose response takes long to prepare', async () => {
    const { isHeld, release } = holdExecution(impatient.tasks);
    const asking = impatient.graphql('{ taskStatistics { total } }', { token: impatient.token });
    await eventually(isHeld);
    await sleep(1_500);
    release();
    expect((await asking).body).toEqual({ data: { taskStatistics: { total: 2 } } });
  });
});

it('a gateway that stops finishes running requests, accepts no new ones, and does not wait for idle connections', async () => {
  const stopping = await startTestGateway();
  const idle = [await openRaw(stopping.origin), await openRaw(stopping.origin, 'GET /livez HTTP/1.1\r\nHo')];
  const { isHeld, release } = holdExecution(stopping.tasks);
  const running = stopping.graphql('{ taskStatistics { total } }', { token: stopping.token });
  await eventually(isHeld);
  expect(stopping.gateway.ready().ok).toBe(true);

  const stopped = Promise.all([stopping.stop(), ...idle.map(closed)]);
  expect(stopping.gateway.ready()).toMatchObject({ ok: false, checks: { draining: true } });
  await eventually(async () => {
    await expect(fetch(`${stopping.origin}/livez`)).rejects.toThrow();
  });
  release();
  const released = performance.now();
  expect((await running).body).toEqual({ data: { taskStatistics: { total: 2 } } });
  await stopped;
  // Not only when the client's idle connection times out.
  expect(performance.now() - released).toBeLessThan(5_000);
});

describe('the rest of a body after its response', () => {
  it.each([
    ['an unknown path', 'POST /nope', '404'],
    ['a path without a body', 'GET /livez', '200'],
    ['a body that is too large', 'POST /graphql', '415'],
    ['a protected path', 'POST /api/tasks', '401'],
  ])('is read for a few megabytes only: %s', async (_, head, status) => {
    const sent = await upload(head, { piece: Buffer.alloc(256 * 1024), everyMs: 0 });
    expect(sent.status).toBe(status);
    expect(sent.sentBytes).toBeLessThan(128 * MIB);
  });

  it('is read for a few seconds only', async () => {
    const { status, tookMs } = await slowUpload;
    expect(status).toBe('404');
    expect(tookMs).toBeLessThan(15_000);
  });

  it('leaves the connection usable for the next request if it is short', async () => {
    const requests = rawRequest('POST /nope', [], 'x'.repeat(MIB)) + get('/livez');
    expect((await raw(requests)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});
