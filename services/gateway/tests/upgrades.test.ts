import { createAdminServer, createLog, startAll, stopAll } from '@taskmesh/service';
import { createSubgraphServer } from '@taskmesh/internal-api';
import { eventually } from '@taskmesh/testing';
import type { Socket } from 'node:net';
import { Registry } from 'prom-client';
import { startTestGateway, useGateway } from './fakes/gateway.ts';
import { HANDSHAKE, openRaw, rawRequest, statusOf } from '@taskmesh/testing/raw';
import { openWebSocket } from './fakes/streams.ts';
import { createFakeTasks } from './fakes/tasks.ts';

const CHANNEL = '/realtime/v1/websocket';
/** Sent with ordinary requests by curl --http2 and Java's client. */
const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];

const gateway = useGateway();

/** Opens a connection whose client side is controlled by the test alone. */
const send = (text: string, origin = gateway.origin) => openRaw(origin, text, { allowHalfOpen: true });

/** Counts the sockets of both ends, as both are in this process. */
const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

describe('a refused upgrade', () => {
  const refused = rawRequest(`GET ${CHANNEL}`, HANDSHAKE);

  it.each([
    ['sends a byte more and closes', (socket: Socket) => void socket.end('x')],
    ['closes', (socket: Socket) => void socket.end()],
    ['stays open', () => undefined],
    ['never reads', (socket: Socket) => void socket.pause()],
  ])('leaks no file descriptor when its client %s', async (_what, behave) => {
    const before = openSockets();
    const sockets = await Promise.all(Array.from({ length: 100 }, () => send(refused)));
    for (const socket of sockets) {
      expect(await statusOf(socket)).toBe(401);
      behave(socket);
    }
    await eventually(() => {
      expect(openSockets() - before).toBeLessThanOrEqual(sockets.filter(({ destroyed }) => !destroyed).length);
    });
  });

  it('does not delay the stop of the gateway', async () => {
    const stopping = await startTestGateway();
    expect(await statusOf(await send(refused, stopping.origin))).toBe(401);
    const began = performance.now();
    await stopping.stop();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each([
    ['no handshake key', HANDSHAKE.slice(0, 3), '/graphql', 400],
    ['no API key', HANDSHAKE, CHANNEL, 401],
    ['an API key that is longer than a token', HANDSHAKE, `${CHANNEL}?apikey=${'x'.repeat(4_097)}`, 401],
    ['nothing at its path', HANDSHAKE, '/nothing', 404],
  ])('gets the reason in JSON: %s', async (_what, headers, path, status) => {
    const socket = await send(rawRequest(`GET ${path}`, headers));
    expect(await statusOf(socket)).toBe(status);
    await eventually(() => expect(socket.response).toMatch(/^\{"message":"[^"]+","error":\{"code":"[A-Z_]+"\}\}$/m));
    expect(socket.response.toLowerCase()).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  });
});

it('sends a close code to some of the sockets beyond the limit of an address, and cuts off the others; closed sockets free their places', async () => {
  const crowded = await startTestGateway({ env: { REALTIME_MAX_SOCKETS_PER_IP: '2' } });
  const handshake = rawRequest('GET /graphql', [...HANDSHAKE, 'Sec-WebSocket-Protocol: graphql-transport-ws']);
  const within = await Promise.all([send(handshake, crowded.origin), send(handshake, crowded.origin)]);
  for (const socket of within) expect(await statusOf(socket)).toBe(101);
  const beyond = await Promise.all(Array.from({ length: 150 }, () => send(handshake, crowded.origin)));
  for (const socket of beyond)
    await eventually(() =>
      expect(socket.readableEnded || socket.destroyed || socket.response.startsWith('HTTP/1.1 101')).toBe(true),
    );
  const closedWithCode = beyond.filter(({ response }) => response.includes('Too many connections'));
  expect(closedWithCode.length).toBeGreaterThan(0);
  expect(closedWithCode.length).toBeLessThanOrEqual(100);
  // None of them responds to the close frame.
  for (const socket of beyond) await eventually(() => expect(socket.readableEnded || socket.destroyed).toBe(true));
  for (const socket of within) socket.destroy();
  await eventually(async () => (await openWebSocket(`${crowded.origin}/graphql`, 'graphql-transport-ws')).terminate());
});

describe('an upgrade to anything but a WebSocket', () => {
  it.each([
    ['GET', '/livez', H2C, ''],
    ['POST', '/graphql', [...H2C, 'Content-Type: application/json'], '{"query":"{ __typename }"}'],
    ['POST', '/graphql', [...HANDSHAKE, 'Content-Type: application/json'], '{"query":"{ __typename }"}'],
    ['GET', '/graphql?query=%7B__typename%7D', [...H2C, 'Content-Type: application/json'], ''],
    ['GET', '/livez', HANDSHAKE, ''],
  ])('is an ordinary request: %s %s', async (method, path, headers, body) => {
    const socket = await send(rawRequest(`${method} ${path}`, headers, body));
    expect(await statusOf(socket)).toBe(200);
    // The connection remains usable.
    socket.response = '';
    socket.write(rawRequest('GET /livez'));
    expect(await statusOf(socket)).toBe(200);
  });

  it('is an ordinary request to a service and to the admin port, too', async () => {
    const log = createLog({ service: 'test', level: 'silent' });
    const { subgraph } = createFakeTasks(log);
    const authenticate = async () => ({ role: 'anonymous' as const });
    const listen = { host: '127.0.0.1', port: 0, log };
    const service = createSubgraphServer({ subgraph, authenticate, ...listen });
    const admin = createAdminServer({ metrics: new Registry(), ready: () => ({ ok: true }), ...listen });
    await startAll([service, admin]);
    const query = '{"query":"{ __typename }"}';
    const post = rawRequest('POST /graphql', [...H2C, 'Content-Type: application/json'], query);
    const sockets = [await send(post, service.address()), await send(rawRequest('GET /livez', H2C), admin.address())];
    for (const socket of sockets) expect(await statusOf(socket)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await stopAll([service, admin]);
  });
});
