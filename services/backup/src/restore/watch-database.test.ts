import { listen } from '@taskmesh/testing';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { archiveLimits, archiveSizes, MAX_ARCHIVE_MB } from '../archives/limits.ts';
import { loadLimits, runWatched } from './watch-database.ts';

it('has limits that timers and PostgreSQL accept for archives of every allowed size', () => {
  const sizes = archiveSizes(MAX_ARCHIVE_MB);
  const { stallMs, timeoutMs, statementTimeoutMs, tempFileBytes } = loadLimits(sizes);
  const all = [archiveLimits(sizes).timeoutMs, stallMs, timeoutMs, statementTimeoutMs, tempFileBytes / 1024];
  expect(Math.max(...all)).toBeLessThan(2 ** 31);
});

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
