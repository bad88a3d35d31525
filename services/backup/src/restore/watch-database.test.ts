import { listen } from '@taskmesh/testing';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runWatched } from './watch-database.ts';

it('queries a server that ends connections once a second', async () => {
  let connections = 0;
  const { port } = await listen(createServer((socket) => (connections++, socket.destroy())));
  const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const limits = { timeoutMs: 60_000, stallMs: 60_000, databaseBytes: Infinity };
  const begunMs = performance.now();
  await runWatched({ adminUrl, database: 'fresh', limits }, () => sleep(400));
  expect(connections).toBeGreaterThan(0);
  expect(connections).toBeLessThanOrEqual(1 + (performance.now() - begunMs) / 1_000);
});
