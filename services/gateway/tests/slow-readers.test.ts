import { eventually } from '@taskmesh/testing';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { useGateway, USER, withLargeTask } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';
import { connectGraphqlWs, openWebSocket, streamGraphqlWs, streamHttp, type TestStream } from './fakes/streams.ts';

const MIB = 1024 * 1024;
const QUERY = 'subscription { taskChanges { sequence task { title } } }';
const SLOW = [1, 2, 3, 4].map((digit) => `a0000000-0000-4000-8000-00000000000${digit}`);
const QUICK = 'b0000000-0000-4000-8000-000000000001';

describe('the data that waits for slow readers of all accounts', () => {
  const gateway = useGateway({ maxKeptBytes: MIB });
  const open = async (user: string): Promise<TestStream> =>
    streamGraphqlWs({ origin: gateway.origin, token: await gateway.auth.token(user), query: QUERY });
  const queued = () => gateway.figure('taskmesh_realtime_queue_bytes');

  it('is limited: the slowest readers are disconnected, and others are not affected', async () => {
    const slow = await Promise.all(SLOW.map(open));
    const quick = await open(QUICK);
    const token = await gateway.auth.token(QUICK);
    const stream = await streamHttp('sse', { origin: gateway.origin, token, query: QUERY });
    await gateway.untilSubscriptions(6);
    for (const one of slow) one.pause();
    let most = 0;
    let steps = 0;
    await eventually(
      async () => {
        for (const user of SLOW) gateway.commit(user, { title: 'x'.repeat(100_000) });
        gateway.commit(QUICK, { title: 'read' });
        steps++;
        await sleep(25);
        most = Math.max(most, await queued());
        expect(await gateway.metrics.metrics()).toMatch(/protocol="graphql-ws",reason="slow"\} [1-9]/);
      },
      { everyMs: 1, timeoutMs: 90_000 }, // the system's own buffers fill first
    );
    // Each of the four may hold 1 MiB by itself; data that arrives between two checks is added.
    expect(most).toBeLessThan(3 * MIB);
    await eventually(async () => expect(await queued()).toBeLessThanOrEqual(MIB));
    await eventually(() => expect([quick.events.length, stream.events.length]).toEqual([steps, steps]));
    expect([quick.ended, stream.ended]).toEqual([undefined, undefined]);
  });

  it('includes changes that wait for other services: the streams of the account with the most end', async () => {
    const query = 'subscription { taskChanges { task { owner { name } } } }';
    const { release } = holdExecution(gateway.auth);
    const waiting = await Promise.all(
      SLOW.map(async (user) =>
        streamGraphqlWs({ origin: gateway.origin, token: await gateway.auth.token(user), query }),
      ),
    );
    await gateway.untilSubscriptions(SLOW.length);
    const [most = '', ...less] = SLOW.toReversed();
    for (const user of [...less, ...Array<string>(8).fill(most)]) gateway.commit(user, { title: 'x'.repeat(50_000) });
    await eventually(() => expect(waiting.at(-1)?.ended).toEqual({ code: 1013 }));
    expect(await queued()).toBeGreaterThan(3 * 100_000);
    expect(await queued()).toBeLessThan(4 * 100_000);
    release();
    for (const { events } of waiting.slice(0, -1)) await eventually(() => expect(events).toHaveLength(1));
  });

  it.each<[string, (socket: WebSocket) => void]>([
    ['a message', (socket) => socket.send('x'.repeat(60_000), { fin: false })],
    [
      'a small piece of a message, together with much else',
      (socket) => {
        for (let count = 0; count < 400; count++) socket.pong('x'.repeat(125));
        socket.send('x', { fin: false });
      },
    ],
  ])('includes what is kept of %s whose rest does not arrive', async (_what, send) => {
    const url = `${gateway.origin}/realtime/v1/websocket?apikey=public-key`;
    const sockets = await Promise.all(Array.from({ length: 40 }, () => openWebSocket(url)));
    for (const socket of sockets) {
      const { _socket: connection } = socket as unknown as { _socket: Socket };
      socket.on('error', () => undefined);
      connection.cork(); // so that all of it arrives in one chunk
      send(socket);
      connection.uncork();
    }
    const isOpen = ({ readyState }: WebSocket) => readyState === WebSocket.OPEN;
    await eventually(() => expect(sockets.filter(isOpen).length).toBeLessThan(MIB / 50_000));
    expect(sockets.some(isOpen)).toBe(true);
    for (const socket of sockets) socket.terminate();
    await eventually(async () => expect(await queued()).toBe(0));
  });
});

describe('a result that is larger than the send limit', () => {
  const gateway = useGateway({ maxKeptBytes: 48 * MIB, wrap: withLargeTask(12) });

  const connect = async () => connectGraphqlWs(gateway.origin, await gateway.auth.token(USER));
  const queued = () => gateway.figure('taskmesh_realtime_queue_bytes');
  const large = '{ task(id: "1") { title } }';

  it('is sent completely over graphql-ws, with the messages after it', async () => {
    const client = await connect();
    client.subscribe('stream', 'subscription { taskChanges { sequence } }');
    await gateway.untilSubscriptions(1);
    client.socket.pause();
    client.subscribe('1', large);
    await eventually(async () => expect(await queued()).toBeGreaterThan(2 * MIB));
    gateway.commit(USER, { title: 'behind it' });
    client.socket.resume();
    await eventually(() => expect(client.messages).toHaveLength(4));
    expect(client.messages.slice(1).map(({ id, type }) => `${id} ${type}`)).toEqual([
      '1 next',
      '1 complete',
      'stream next',
    ]);
    expect(await queued()).toBe(0);
    expect(client.closed).toBeUndefined();
  });

  it('counts until it is read, like any response', async () => {
    const cuts = () => gateway.logged.filter(({ msg }) => String(msg).includes('slow readers'));
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${await gateway.auth.token(USER)}` };
    const clients = Array.from({ length: 6 }, () =>
      get(`${gateway.origin}/graphql?query=${encodeURIComponent(large)}`, { headers, agent: false }),
    );
    for (const client of clients) client.on('error', () => undefined).on('response', (response) => response.pause());
    await eventually(() => expect(cuts().length).toBeGreaterThan(0));
    for (const client of clients) client.destroy();
  });

  it('is the last one over graphql-ws for a client that does not read', async () => {
    const client = await connect();
    client.socket.pause();
    for (let id = 0; id < 8; id++) client.subscribe(String(id), large);
    // The second one is accepted while the first is waiting; after both there is no room.
    await eventually(async () => expect(await queued()).toBeGreaterThan(20 * MIB));
    client.socket.resume();
    await eventually(() => expect(client.closed).toBe(1013));
    expect(client.messages.filter(({ type }) => type === 'next')).toHaveLength(2);
  });
});
