import { closed, listen } from '@taskmesh/testing';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTimeoutExempt, openLongBody } from './bodies.ts';
import { clientRequests } from './client-request.ts';
import type { Memory } from './memory.ts';

/** A server with a request timeout of 200 ms; the gateway's is 30 s. */
async function start(handle: (request: IncomingMessage) => Promise<string>) {
  const memory = { hold: () => true } as unknown as Memory; // it has room
  const server = createServer({
    IncomingMessage: clientRequests({ memory, clientIp: () => '127.0.0.1' }),
    ...{ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 },
  });
  server.on('clientError', (_error, socket) => {
    if (!isTimeoutExempt(socket as never)) socket.destroy();
  });
  server.on('request', (request, response) => {
    handle(request).then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(400).end(error.message),
    );
  });
  const { port, close } = await listen(server);
  const client = connect(port, '127.0.0.1');
  let heard = '';
  client.on('data', (bytes) => (heard += bytes.toString()));
  client.on('error', () => undefined);
  const stop = async () => {
    client.destroy();
    await close();
  };
  return { client, heard: () => heard, stop };
}

const head = (length: number) => `PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

describe('a long body', () => {
  it('may take longer than a request, as long as data arrives', async () => {
    const { client, heard, stop } = await start(async (request) => {
      const bytes = await buffer(openLongBody(request, { silenceMs: 300 }));
      return `got ${bytes.length}`;
    });
    client.write(head(10));
    for (let sent = 0; sent < 10; sent++) {
      client.write('x');
      await sleep(60);
    }
    while (!heard().includes('got 10')) await sleep(10);
    // The next request on this connection is an ordinary one again.
    client.write('PUT / HTTP/1.1\r\nHost: x\r\n');
    await closed(client);
    await stop();
  });

  it('is ended when no data arrives', async () => {
    const { client, heard, stop } = await start(async (request) =>
      String(await buffer(openLongBody(request, { silenceMs: 100 }))),
    );
    client.write(`${head(10)}12345`);
    while (!heard().includes('The upload stalled.')) await sleep(10);
    expect(heard()).toContain('400 Bad Request');
    await stop();
  });
});
