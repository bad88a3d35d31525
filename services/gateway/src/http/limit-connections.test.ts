import { eventually } from '@taskmesh/testing';
import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { limitConnections } from './client-connections.ts';

let server: Server;
const open: Socket[] = [];

async function start(trustedProxies: string[], host: string): Promise<void> {
  server = createServer();
  limitConnections(server, { maxPerNetwork: 3, trustedProxies });
  server.on('connection', (socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
}
function connectTimes(count: number): Socket[] {
  const { port } = server.address() as AddressInfo; // always one for TCP
  const sockets = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume(),
  );
  open.push(...sockets);
  return sockets;
}
const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it.each(['127.0.0.1', '::'])(
  'closes connections of a network beyond its limit, until it closes others (%s)',
  async (host) => {
    await start([], host);
    const sockets = connectTimes(8);
    await eventually(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(5));
    expect(await connections()).toBe(3);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect(await connections()).toBe(0));
    connectTimes(3);
    await eventually(async () => expect(await connections()).toBe(3));
  },
);

it('closes connections of an IPv6 site beyond four times the limit', () => {
  server = createServer();
  limitConnections(server, { maxPerNetwork: 3, trustedProxies: [] });
  const sockets = Array.from({ length: 20 }, (_, at) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: `2001:db8:1:${at}::1` });
    server.emit('connection', socket);
    return socket;
  });
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(sockets.slice(12));
  open.push(...sockets);
});

it.each(['127.0.0.1', '::'])('does not limit trusted proxies (%s)', async (host) => {
  await start(['127.0.0.0/8'], host);
  connectTimes(8);
  await eventually(async () => expect(await connections()).toBe(8));
});
