import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStreamPool } from './stream-pool.ts';

it('asks nobody once it is destroyed, even if it was never used before', async () => {
  let asked = 0;
  const server = createServer((_request, response) => void (asked++, response.end())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const isUsed of [true, false]) {
    const pool = createStreamPool(`http://127.0.0.1:${port}`, { connections: 1 });
    const ask = async () => (await pool.request({ method: 'GET', path: '/' })).body.dump();
    if (isUsed) await ask();
    await pool.destroy();
    await expect(ask()).rejects.toThrow();
  }
  expect(asked).toBe(1);
  server.close();
});
