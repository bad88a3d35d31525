import { eventually, listen } from '@taskmesh/testing';
import { createServer } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { createNumberFinder, openListeners, titleOf } from '../src/feed/sockets.ts';

const user = { id: 'a-user', token: 'none' };
const connections: WebSocket[] = [];
const server = createServer();
let url: string;

beforeAll(async () => {
  new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' }).on('connection', (socket) => {
    connections.push(socket);
    socket.on('message', () => socket.send('{"type":"connection_ack"}'));
  });
  url = (await listen(server)).url;
});
beforeEach(() => connections.splice(0));

const deliver = (n: number) => connections.forEach((socket) => socket.send(JSON.stringify({ title: titleOf(n) })));

const open = (kind: 'bare' | 'graphql-ws', socketsPerOwner: number) =>
  openListeners({ kind, groups: [{ url, users: [user] }], socketsPerOwner });

it('notices a change that arrives twice, and more messages than expected', async () => {
  const listeners = await open('bare', 2);
  const once = async () => deliver(1);
  const { numbers } = await listeners.expect(() => 2, once);
  for (const seen of [numbers, listeners.lastOf(user.id)]) expect(seen).toEqual([1, 1]);
  deliver(1);
  await eventually(() => expect(() => listeners.check()).toThrow('received change 1 after 1'));
  await listeners.close();
  const other = await open('graphql-ws', 1);
  const twice = async () => {
    for (const n of [3, 4]) deliver(n);
    await eventually(() => expect(other.lastOf(user.id)).toEqual([4]));
  };
  await expect(other.expect(() => 1, twice)).rejects.toThrow('2 messages arrived instead of 1');
  await other.close();
});

it('notices that a server closes a connection, and still closes the others', async () => {
  const listeners = await open('bare', 2);
  listeners.check();
  connections[0]?.terminate();
  await eventually(() => expect(() => listeners.check()).toThrow('The server closed a connection'));
  await listeners.close();
  await eventually(() => expect(connections.every(({ readyState }) => readyState === 3)).toBe(true));
});

it('finds the numbers of changes wherever a stream of bytes is split', () => {
  const text = [3, 14, 159].map((n) => `{"title":${JSON.stringify(titleOf(n))},"note":"a # b"}`).join('\r\n');
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const found: number[] = [];
    const find = createNumberFinder((n) => found.push(n));
    find(bytes.subarray(0, cut));
    find(bytes.subarray(cut));
    expect(found).toEqual([3, 14, 159]);
  }
});
