import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runNode } from './steps.ts';

it('ends, when it is stopped, what it has started and all that this has started', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connects = `require('net').connect(${port}, '127.0.0.1')`;
  const starts = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(connects)}])`;
  const stop = new AbortController();
  const run = runNode(['-e', starts], { signal: stop.signal });
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => undefined).resume();
  const closed = once(socket, 'close').then(() => 'ended');
  try {
    stop.abort();
    expect(await run).toBe(false);
    expect(await Promise.race([closed, sleep(5_000, 'goes on', { ref: false })])).toBe('ended');
  } finally {
    socket.destroy(); // what went on ends with it
    server.close();
  }
});
