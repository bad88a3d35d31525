import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { limitUnreadAnswers } from './unread-answers.ts';

const MIB = 1024 * 1024;

it('cuts clients that do not read their answers once too much waits for all of them together', async () => {
  const server = createServer((_request, response) => response.end(Buffer.alloc(16 * MIB))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const budget = limitUnreadAnswers(server, createLog({ service: 'test', level: 'silent' }), 40 * MIB);
  await budget.start();
  const clients: Socket[] = [];
  let cut = 0;
  server.on('connection', (socket: Socket) => socket.once('close', () => (cut += 1)));
  for (let count = 0; count < 6; count += 1) {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
    clients.push(client.pause());
  }
  const reader = await fetch(`http://127.0.0.1:${port}/`);
  expect((await reader.arrayBuffer()).byteLength).toBe(16 * MIB);
  await eventually(() => expect(cut).toBeGreaterThanOrEqual(3));
  expect(cut).toBeLessThan(6);
  for (const client of clients) client.destroy();
  await budget.stop();
  server.closeAllConnections();
  server.close();
});
