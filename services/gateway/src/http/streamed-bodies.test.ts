import { closed, eventually, listen } from '@taskmesh/testing';
import { openRaw } from '@taskmesh/testing/raw';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTimeoutExempt, openLongBody } from './bodies.ts';
import { clientRequests } from './client-request.ts';
import type { Memory } from './memory.ts';

const HEAD = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n';

/** A client of a server with a request timeout of 200 ms; the gateway's is 30 s. */
async function connect(silenceMs: number) {
  const memory = { hold: () => true, watch: () => 0 } as unknown as Memory; // it has room
  const server = createServer({
    IncomingMessage: clientRequests({ memory, clientIp: () => '127.0.0.1' }),
    ...{ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 },
  });
  server.on('clientError', (_error, socket) => {
    if (!isTimeoutExempt(socket as never)) socket.destroy();
  });
  server.on('request', (request, response) => {
    buffer(openLongBody(request, { silenceMs })).then(
      (bytes) => response.end(`got ${bytes.length}`),
      (error: Error) => response.writeHead(400).end(error.message),
    );
  });
  return openRaw((await listen(server)).url, HEAD);
}

describe('a long body', () => {
  it('may take longer than a request, as long as data arrives', async () => {
    const client = await connect(300);
    for (let sent = 0; sent < 10; sent++) {
      client.write('x');
      await sleep(60);
    }
    await eventually(() => expect(client.response).toContain('got 10'));
    // The next request on this connection is an ordinary one again.
    client.write('PUT / HTTP/1.1\r\nHost: x\r\n');
    await closed(client);
  });

  it('is ended when no data arrives', async () => {
    const client = await connect(100);
    client.write('12345');
    await eventually(() => expect(client.response).toMatch(/400 Bad Request[^]*The upload stalled\./));
  });
});
