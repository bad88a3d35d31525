import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from '../src/connections/connections.ts';
import { startTestGateway, useGateway } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

const gateway = useGateway({
  env: { HOST: 'localhost' },
  wrap: (connections) => withLargeTask(connections),
});

/** Sends bytes verbatim, and returns everything received until the connection closes. */
function raw(text: string, origin = gateway.origin): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket
      .on('data', (chunk) => (answer += chunk))
      .on('close', () => resolve(answer))
      .on('error', reject);
  });
}

it('opens one server, even if its host name has two addresses', () => {
  expect(new URL(gateway.origin).hostname).toBe('127.0.0.1');
});

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers].join('\r\n') + '\r\n\r\n';

it.each<[string, string, number, string]>([
  ['a method of other protocols', 'PROPFIND /graphql HTTP/1.1\r\nHost: x', 405, 'METHOD_NOT_ALLOWED'],
  ['two hosts, at a path that cannot be decoded', 'GET /% HTTP/1.1\r\nHost: x\r\nHost: y', 400, 'BAD_USER_INPUT'],
])('a request that no route accepts gets JSON: %s', async (_name, head, status, code) => {
  const answer = await raw(`${head}\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer.toLowerCase()).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/);
  expect(answer.toLowerCase()).toContain('content-type: application/json');
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual({
    ...{ message: expect.any(String), error: { code } },
  });
});

it('reads 1,024 characters of Accept', async () => {
  const path = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
  const accepting = (others: number) =>
    raw(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: ${'text/plain,'.repeat(others)}application/json\r\n\r\n`,
    );
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

describe('a page on this machine', () => {
  it('may not call in production, unless its origin is configured', async () => {
    const production = await startTestGateway({
      env: { NODE_ENV: 'production', BACKUP_TOKEN: 'x'.repeat(40), CORS_ORIGINS: 'http://localhost:5173' },
    });
    for (const origin of ['http://localhost:5173', 'https://localhost', 'http://127.8.0.1', 'http://[::1]:8080']) {
      const { headers } = await fetch(`${production.origin}/livez`, { headers: { origin } });
      const isNamed = origin === 'http://localhost:5173';
      expect(headers.get('access-control-allow-origin')).toBe(isNamed ? origin : null);
    }
  });

  it('cannot use endpoints for callers on this machine', async () => {
    const response = await fetch(`${gateway.origin}/api/backups`, { headers: { origin: 'http://localhost:5173' } });
    expect(response.status).toBe(403);
  });
});

it('bytes that are not HTTP, after a request whose response is being written, only end the connection', async () => {
  const token = await gateway.auth.token(USER);
  const query = 'subscription { taskChanges { cursor } }';
  const body = JSON.stringify({ query });
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk)).on('error', () => undefined);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => received.includes('text/event-stream'));
  socket.write('no HTTP at all\r\n\r\n');
  await once(socket, 'close');
  expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

const MIB = 1024 * 1024;
let executed = 0;

/** A task of 8 MiB, more than any buffer along the way can hold. */
const LARGE = `/graphql?query=${encodeURIComponent('{ task(id: "1") { title } }')}`;
const withLargeTask = (connections: Connections): Connections => ({
  ...connections,
  request: async (name, url, request, options) => {
    if (!request.query.includes('task(')) return connections.request(name, url, request, options);
    executed++;
    await sleep(20);
    return { data: { task: { title: 'x'.repeat(8 * MIB) } } };
  },
});

describe('pipelined requests', () => {
  let token: string;
  beforeAll(async () => void (token = await gateway.auth.token(USER)));
  beforeEach(() => (executed = 0));

  const request = (method: string, path: string, headers: string[] = [], body = '') =>
    [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...headers].join('\r\n') +
    `\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const stream = () =>
    request(
      'POST',
      '/graphql',
      ['Accept: text/event-stream', 'Content-Type: application/json'],
      JSON.stringify({ query: 'subscription { taskChanges { cursor } }' }),
    );
  const open = (text: string) => {
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1').on('error', () => undefined);
    let received = '';
    socket.on('data', (chunk) => (received += chunk)).write(text);
    return { socket, received: () => received };
  };

  it('are ended by bytes after them that are not HTTP, before the response has begun', async () => {
    const { socket, received } = open(`${request('GET', LARGE)}no HTTP at all\r\n\r\n`);
    await once(socket, 'close');
    expect(received()).toBe('');
  });

  it('wait for a stream as long as it lasts, and take no memory', async () => {
    const before = process.memoryUsage.rss();
    const { socket, received } = open(stream() + request('GET', LARGE).repeat(8));
    await eventually(() => expect(received()).toContain('text/event-stream'));
    await sleep(1_000);
    expect(executed).toBe(0);
    expect((process.memoryUsage.rss() - before) / MIB).toBeLessThan(100);
    socket.destroy();
  });

  it('run one after another', async () => {
    let atOnce = 0;
    let most = 0;
    const { execute } = gateway.tasks.subgraph;
    gateway.tasks.subgraph.execute = async (...args) => {
      most = Math.max(most, ++atOnce);
      await sleep(20);
      return execute(...args).finally(() => atOnce--);
    };
    const { socket, received } = open(request('GET', '/api/tasks').repeat(9));
    await eventually(() => expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(9));
    gateway.tasks.subgraph.execute = execute;
    expect(most).toBe(1);
    socket.destroy();
  });

  it.each([LARGE, '/%'])('end the connection if there are more than 8: GET %s', async (path) => {
    const { socket } = open(stream() + request('GET', path).repeat(9));
    await once(socket, 'close');
    expect(executed).toBe(0);
  });

  it('end the connection if one is an upgrade', async () => {
    const upgrade = 'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket';
    const handshake = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws'; // prettier-ignore
    const { socket, received } = open(`${request('GET', LARGE)}${upgrade}\r\n${handshake}\r\n\r\n`);
    await once(socket, 'close');
    expect(received()).toBe('');
  });
});

describe('a gateway with clients that read nothing', () => {
  const impatient = useGateway({ env: { REQUEST_TIMEOUT_S: '1' }, wrap: withLargeTask });
  let token: string;
  beforeAll(async () => void (token = await impatient.auth.token(USER)));

  it('disconnects them when their response waits in memory', async () => {
    const socket = connect(Number(new URL(impatient.origin).port), '127.0.0.1', () =>
      socket.write(`GET ${LARGE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    );
    socket.pause();
    // A destroyed peer resets the connection at the next byte, so this shows without reading anything. Bytes that arrive
    // prolong the timeout.
    const probe = setInterval(() => socket.write('\r\n'), 1_500);
    await new Promise((resolve) => socket.once('error', resolve));
    clearInterval(probe);
    socket.destroy();
  });

  it('does not disconnect clients whose response takes long to prepare', async () => {
    const { isHeld, release, undo } = holdExecution(impatient.tasks);
    const asking = impatient.graphql('{ taskStatistics { total } }', { token });
    await eventually(isHeld);
    await sleep(2_500);
    release();
    expect((await asking).body).toEqual({ data: { taskStatistics: { total: 2 } } });
    undo();
  });
});

it('a gateway that stops finishes running requests, accepts no new ones, and does not wait for idle connections', async () => {
  const stopping = await startTestGateway();
  const token = await stopping.auth.token(USER);
  const idle = await Promise.all(
    ['', 'GET /livez HTTP/1.1\r\nHo'].map(async (text) => {
      const socket = connect(Number(new URL(stopping.origin).port), '127.0.0.1').resume();
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }),
  );
  const { isHeld, release } = holdExecution(stopping.tasks);
  const running = stopping.graphql('{ taskStatistics { total } }', { token });
  await eventually(isHeld);
  expect(stopping.gateway.ready().ok).toBe(true);

  const stopped = Promise.all([stopping.stop(), ...idle.map((socket) => once(socket, 'close'))]);
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
  const MIB = 1024 * 1024;

  /** Sends pieces until the gateway closes the connection; resolves with the response and the bytes sent. */
  async function upload(head: string, { piece, everyMs }: { piece: Buffer; everyMs: number }) {
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk)).on('error', () => undefined);
    socket.write(`${head} HTTP/1.1\r\nHost: x\r\nContent-Length: ${1024 * MIB}\r\n\r\n`);
    while (!socket.destroyed && socket.bytesWritten < 512 * MIB)
      if (socket.write(piece) || !(await drained(socket))) await sleep(everyMs);
    socket.destroy();
    return { status: /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], sentBytes: socket.bytesWritten };
  }
  const drained = (socket: Socket) =>
    Promise.race([once(socket, 'drain').then(() => true), once(socket, 'close').then(() => false)]);

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
    const begunMs = performance.now();
    expect((await upload('POST /nope', { piece: Buffer.from('x'), everyMs: 50 })).status).toBe('404');
    expect(performance.now() - begunMs).toBeLessThan(15_000);
  });

  it('leaves the connection usable for the next request if it is short', async () => {
    const requests = `POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: ${MIB}\r\n\r\n${'x'.repeat(MIB)}${get('/livez')}`;
    expect((await raw(requests)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});
