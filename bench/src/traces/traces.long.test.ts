import { startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { startTraceCollector } from '@taskmesh/telemetry/testing';
import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tracesOptions } from './options.ts';
import { runTracesBench } from './run-traces-bench.ts';
import { startPlatform } from './start-platform.ts';

/** Fewer spans are not sent. */
const BATCH = 512;

describe('the benchmark of traces', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-traces-'));
  const around = { env: process.env, log: () => undefined, signal: new AbortController().signal };
  afterAll(() => rmSync(dir, { recursive: true }));

  it('has a platform that records while it is told to, and only then', async () => {
    await using closers = new Closers();
    const collector = closers.use(await startTraceCollector());
    const postgres = closers.use(await startPostgres({ dataDir: join(dir, 'postgres'), log: around.log }));
    const given = { dataDir: join(dir, 'taskmesh'), env: process.env, postgresUrl: postgres.url, collector };
    const platform = closers.use(await startPlatform(given));
    const ask = async (path: string) => void (await fetch(`${platform.url}${path}`));
    const exported = () => collector.exports.map(({ body }) => body.toString('latin1')).join('');

    await ask('/api/tasks');
    await platform.record(1);
    await Promise.all(Array.from({ length: BATCH }, () => ask('/api/auth/me')));
    await platform.record(0);
    await ask('/api/tasks');
    await eventually(() => expect(exported()).toContain('/api/auth/me'));
    expect(exported()).not.toContain('/api/tasks');
  }, 120_000);

  it('finds what requests cost with recording and without', async () => {
    const options = tracesOptions.read(['--quick', '--shares', '1', '--connections', '2']);
    const { measured, exports } = await runTracesBench({ ...options, ...around, dataDir: join(dir, 'run') });
    expect(measured.map(({ operation, share, pairs }) => [operation, share, pairs.length])).toEqual([['get', 1, 5]]);
    for (const pair of measured[0]?.pairs ?? []) expect(Math.min(pair.with, pair.without)).toBeGreaterThan(0);
    expect(exports).toBeGreaterThan(0);
  }, 120_000);
});
