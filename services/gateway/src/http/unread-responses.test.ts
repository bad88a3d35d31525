import { createLog } from '@taskmesh/service';
import { collectGarbage, eventually } from '@taskmesh/testing';
import { fastify, type FastifyInstance } from 'fastify';
import { Agent, get } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { getHeapSpaceStatistics } from 'node:v8';
import { Registry } from 'prom-client';
import { serveSequentially } from './client-connections.ts';
import { asClientRequest } from './client-request.ts';
import { createMemory, type Memory } from './memory.ts';
import { excludeFromUnread, trackUnreadResponses } from './unread-responses.ts';

const MIB = 1024 * 1024;
const SIZE = 16 * MIB;
const MAX_BYTES = 5.5 * SIZE;
const SHARED = Buffer.alloc(SIZE);

describe('unread responses', () => {
  let app: FastifyInstance;
  let memory: Memory;
  let port: number;
  let clients: Socket[];
  let served: Socket[];

  beforeEach(async () => {
    clients = [];
    served = [];
    app = fastify({ forceCloseConnections: true });
    serveSequentially(app.server);
    app.get<{ Params: { account: string; mib: string } }>('/:account/:mib', ({ params, raw }, reply) => {
      asClientRequest(raw).account = params.account;
      if (params.account === 'all') excludeFromUnread(reply.raw);
      served.push(raw.socket);
      return reply.send(params.account === 'all' ? SHARED : Buffer.alloc(Number(params.mib) * MIB));
    });
    memory = createMemory({
      maxBytes: MAX_BYTES,
      metrics: new Registry(),
      log: createLog({ service: 'test', level: 'silent' }),
    });
    memory.watch(trackUnreadResponses(app.server, () => '192.0.2.1'));
    await memory.start();
    await app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = app.server.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await memory.stop();
    await app.close();
  });

  /** Reads nothing. Returns the server's side of the connection. */
  async function leaveUnread(path: string): Promise<Socket> {
    const count = served.length;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`);
    clients.push(client.pause());
    await eventually(() => expect(served).toHaveLength(count + 1));
    return served[count] as Socket;
  }

  it('are cut off for one account with many before another with one', async () => {
    const first = await leaveUnread('/ada/16');
    const others: Socket[] = [];
    for (let count = 0; count < 20; count++) others.push(await leaveUnread('/bob/8'));
    await eventually(() => expect(others.filter((socket) => socket.destroyed).length).toBeGreaterThan(2));
    expect(first.destroyed).toBe(false);
  });

  it('are not searched for on idle connections', async () => {
    const idle = await leaveUnread('/ada/0');
    await new Promise((resolve) => setTimeout(resolve, 250));
    let looks = 0;
    Object.defineProperty(idle, 'writableLength', { get: () => (looks++, 0) });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(looks).toBe(0);
  });

  it('do not keep sent ones until the next major collection', async () => {
    const oldBytes = () =>
      getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const request = () =>
      new Promise((resolve) =>
        get({ port, agent, path: '/ada/0' }, (response) => response.resume().once('close', resolve)),
      );
    const some = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: 40 }, request));
        collectGarbage('minor');
      }
    };
    await some(20);
    collectGarbage();
    const before = oldBytes();
    await some(50);
    expect((oldBytes() - before) / (50 * 40)).toBeLessThan(1_000); // 2,100 when a set held the responses
    agent.destroy();
  });

  it('do not include bytes that all clients share', async () => {
    const sockets: Socket[] = [];
    for (let count = 0; count < 8; count++) sockets.push(await leaveUnread('/all/16'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sockets.filter((socket) => socket.destroyed)).toEqual([]);
  });
});
