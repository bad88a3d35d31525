import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { limitUnreadAnswers } from './unread-answers.ts';

const MIB = 1024 * 1024;
const ANSWER = Buffer.alloc(16 * MIB);

it('cuts those who have not read their answers for the longest, once too much waits for all together', async () => {
  const server = createServer((_request, response) => response.end(ANSWER)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const served: Socket[] = [];
  const closed: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    served.push(socket);
    socket.once('close', () => closed.push(socket));
  });
  const budget = limitUnreadAnswers(server, createLog({ service: 'test', level: 'silent' }), 5.5 * ANSWER.length);
  await budget.start();
  const clients: Socket[] = [];
  for (let count = 1; count <= 5; count += 1) {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
    clients.push(client.pause());
    await eventually(() => expect(served.filter((socket) => socket.writableLength > MIB)).toHaveLength(count));
  }
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect((await answer.arrayBuffer()).byteLength).toBe(ANSWER.length);
  const closedAt = closed.map((socket) => served.indexOf(socket));
  expect(closedAt.toSorted()).toEqual(closedAt.map((_, index) => index));
  expect(closed.length).toBeLessThanOrEqual(3);
  for (const client of clients) client.destroy();
  await budget.stop();
  server.closeAllConnections();
  server.close();
});
