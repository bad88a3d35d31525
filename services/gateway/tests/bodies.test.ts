import { newPersonalToken } from '@taskmesh/identity';
import { closed, eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchGraphQL, postGraphQL, startTestGateway, useGateway } from './fakes/gateway.ts';
import { openWebSocket } from './fakes/streams.ts';
import { openRaw, rawGraphQL, rawRequest, statusOf, type RawSocket } from '@taskmesh/testing/raw';

const MIB = 1024 * 1024;

const gateway = await startTestGateway();

const BODY = { query: '{ __typename }', padding: 'x'.repeat(MIB - 100) };

it('many large unfinished bodies are kept up to a limit, the oldest get a 503, and complete ones and ordinary requests are served', async () => {
  const unfinished = rawGraphQL(BODY).slice(0, -1);
  const sockets = await Promise.all(Array.from({ length: 60 }, () => openRaw(gateway.origin, unfinished)));
  const isRefused = ({ response }: RawSocket) => response.includes('\r\n\r\n');
  await eventually(() => sockets.some(isRefused));
  const { response = '' } = sockets.find(isRefused) ?? {};
  expect(response).toMatch(/^HTTP\/1\.1 503 /);
  expect(response.toLowerCase()).toContain('retry-after: 1\r\n');
  expect((await postGraphQL(gateway.origin, BODY)).status).toBe(200);
  expect((await gateway.graphql('{ __typename }')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  for (let tries = 0; (await postGraphQL(gateway.origin, BODY)).status !== 200; tries++)
    expect(tries).toBeLessThan(100);
});

it('large bodies whose clients have disconnected count until their processing has ended, for all accounts of their network together', async () => {
  const user = (digit: number) => `a0000000-0000-4000-8000-00000000000${digit}`;
  let isHeld = true;
  const ends: (() => void)[] = [];
  const busy = await startTestGateway({
    env: { TRUSTED_PROXIES: '127.0.0.1' },
    wrap: (connections) => ({
      ...connections,
      async request(...args) {
        if (isHeld) await new Promise<void>((resolve) => ends.push(resolve));
        return connections.request(...args);
      },
    }),
  });
  const body = JSON.stringify({ query: '{ taskStatistics { total } }', padding: 'x'.repeat(MIB - 100) });
  const client = new AbortController();
  const send = async (digit: number, from: string, signal?: AbortSignal) => {
    const headers = { authorization: `Bearer ${await busy.auth.token(user(digit))}`, 'x-forwarded-for': from };
    return fetchGraphQL(busy.origin, body, headers, signal);
  };
  const all = Array.from({ length: 16 }, (_, at) => send(1 + (at % 2), '192.0.2.1', client.signal));
  const outcomes = Promise.allSettled(all);
  await eventually(() => expect(ends).toHaveLength(all.length));
  client.abort();
  for (const { status } of await outcomes) expect(status).toBe('rejected');
  await sleep(200);
  isHeld = false;
  expect((await send(3, '192.0.2.1')).status).toBe(503);
  expect((await send(3, '192.0.2.2')).status).toBe(200);
  for (const end of ends) end();
  await eventually(async () => expect((await send(3, '192.0.2.1')).status).toBe(200), { timeoutMs: 5_000 });
});

it('large bodies of streams no longer count once their streams have begun', async () => {
  const leave = new AbortController();
  const body = JSON.stringify({ query: 'subscription { taskChanges { cursor } }', padding: 'x'.repeat(MIB - 100) });
  const open = async (at: number) => {
    const authorization = `Bearer ${await gateway.auth.token(`a0000000-0000-4000-8000-00000000000${at}`)}`;
    return fetchGraphQL(gateway.origin, body, { authorization, accept: 'text/event-stream' }, leave.signal);
  };
  // 20 MiB, and one network may use 16 MiB.
  for (let round = 0; round < 5; round++)
    for (const { status } of await Promise.all([1, 2, 3, 4].map(open))) expect(status).toBe(200);
  leave.abort();
});

const PIECE = '1\r\nx\r\n';
const PIECES = PIECE.repeat(60_000);

const inPieces = (line: string, ...headers: string[]) =>
  `${rawRequest(line, ['Content-Type: application/json', ...headers, 'Transfer-Encoding: chunked'])}${PIECES}0\r\n\r\n`;

describe('bodies that arrive before anything reads them', () => {
  const gateway = useGateway();
  /** From now on, lookups of unknown tokens wait until the returned function is called. */
  const holdLookups = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.auth.internal.findPersonalToken = async () => promise.then(() => null);
    return resolve;
  };

  const send = (bytes: string | Buffer) => openRaw(gateway.origin, bytes);
  const memory = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const ordinary = async () => (await gateway.graphql('{ __typename }')).status;

  it('are not read while a stream runs, beyond what arrived with its request', async () => {
    const token = await gateway.auth.token('a0000000-0000-4000-8000-000000000001');
    const query = { query: 'subscription { taskChanges { cursor } }' };
    const stream = rawGraphQL(query, 'Accept: text/event-stream', `Authorization: Bearer ${token}`);
    const sockets = await Promise.all(Array.from({ length: 12 }, () => send(stream)));
    await eventually(async () =>
      expect(await gateway.figure('taskmesh_realtime_connections{protocol="sse"}')).toBe(12),
    );
    const behind = Buffer.from(inPieces('POST /graphql').repeat(8));
    const before = memory();
    for (const socket of sockets) socket.write(behind);
    await sleep(1_000);
    expect(memory() - before).toBeLessThan(30 * MIB);
    expect(await ordinary()).toBe(200);
  });

  it('are refused beyond 4,096 pieces while a token is looked up', async () => {
    const end = holdLookups();
    const endless = inPieces('POST /api/tasks', `Authorization: Bearer ${newPersonalToken()}`);
    const body = Buffer.from(endless.replace(PIECES, PIECE.repeat(8_000)));
    const before = memory();
    const [first] = await Promise.all([send(body), ...Array.from({ length: 49 }, () => send(body))]);
    await sleep(1_000);
    expect(memory() - before).toBeLessThan(60 * MIB);
    expect(await ordinary()).toBe(200);
    end();
    expect(await statusOf(first)).toBe(401);
  });

  it.each(['POST /nothing', 'POST /graphql'])(
    'end their connection beyond 8,192 pieces, including discarded ones: %s',
    async (line) => {
      const endless = inPieces(line).slice(0, -'0\r\n\r\n'.length);
      // It ends after five seconds, or later.
      const slow = await send(endless.replace(PIECES, PIECE.repeat(4_000)));
      const cut = await send(endless);
      expect(await Promise.race([closed(slow).then(() => 'slow'), closed(cut).then(() => 'cut')])).toBe('cut');
    },
  );

  it('of channel joins are limited in their parsed size, and count while a token is looked up', async () => {
    const end = holdLookups();
    const closed: number[] = [];
    const answered: string[] = [];
    const join = async (lists: number) => {
      const socket = await openWebSocket(`${gateway.origin}/realtime/v1/websocket?apikey=key&vsn=2.0.0`);
      socket.on('close', (code) => closed.push(code)).on('message', (bytes) => answered.push(String(bytes)));
      const entry = { event: '*', more: Array.from({ length: lists }, () => []) };
      const payload = { config: { postgres_changes: [entry] }, access_token: newPersonalToken() };
      socket.send(JSON.stringify(['1', '1', 'realtime:tasks', 'phx_join', payload]));
      return socket;
    };
    const ignored = await join(6_000);
    ignored.send(JSON.stringify([null, '2', 'phoenix', 'heartbeat', {}]));
    await eventually(() => expect(answered).toEqual([expect.stringContaining('"phoenix"')]));
    ignored.terminate();
    await eventually(() => expect(closed).toHaveLength(1));
    closed.length = 0;
    const sockets: Awaited<ReturnType<typeof join>>[] = [];
    for (let count = 0; count < 60; count++) sockets.push(await join(4_500));
    await eventually(() => expect(closed.length).toBeGreaterThan(5));
    expect(closed.length).toBeLessThan(50);
    end();
    const isRefused = (text: string) => text.includes('InvalidJWTToken');
    await eventually(() => expect(answered.filter(isRefused)).toHaveLength(sockets.length - closed.length));
    sockets.push(await join(4_500));
    await eventually(() => expect(answered.filter(isRefused)).toHaveLength(sockets.length - closed.length));
  });

  it('do not prevent a client from pipelining requests', async () => {
    const request = rawGraphQL({ query: '{ __typename }', padding: 'x'.repeat(100_000) });
    const socket = await send(request.repeat(3));
    await eventually(() => expect(socket.response.match(/HTTP\/1\.1 200 /g)).toHaveLength(3));
  });
});
