import { eventually } from '@taskmesh/testing';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { useGateway } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';
import { openWebSocket, streamGraphqlWs, streamHttp, type TestStream } from './fakes/streams.ts';

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
    await eventually(async () => expect(await gateway.metrics.metrics()).toContain('taskmesh_realtime_owners 5'));
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
