import { eventually, listen } from '@taskmesh/testing';
import { openRaw } from '@taskmesh/testing/raw';
import { createServer, Socket } from 'node:net';
import { limitConnections } from './client-connections.ts';

async function start(trustedProxies: string[], host: string) {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  limitConnections(server, { maxPerNetwork: 3, trustedProxies });
  const { url } = await listen(server, host);
  return {
    connect: (count: number) => Promise.all(Array.from({ length: count }, () => openRaw(url))),
    connections: () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
  };
}

it.each(['127.0.0.1', '::'])(
  'closes connections of a network beyond its limit, until it closes others (%s)',
  async (host) => {
    const { connect, connections } = await start([], host);
    const sockets = await connect(8);
    await eventually(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(5));
    expect(await connections()).toBe(3);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect(await connections()).toBe(0));
    await connect(3);
    await eventually(async () => expect(await connections()).toBe(3));
  },
);

it('closes connections of an IPv6 site beyond four times the limit', () => {
  const server = createServer();
  limitConnections(server, { maxPerNetwork: 3, trustedProxies: [] });
  const sockets = Array.from({ length: 20 }, (_, at) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: `2001:db8:1:${at}::1` });
    server.emit('connection', socket);
    return socket;
  });
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(sockets.slice(12));
  for (const socket of sockets) socket.destroy();
});

it.each(['127.0.0.1', '::'])('does not limit trusted proxies (%s)', async (host) => {
  const { connect, connections } = await start(['127.0.0.0/8'], host);
  await connect(8);
  await eventually(async () => expect(await connections()).toBe(8));
});
