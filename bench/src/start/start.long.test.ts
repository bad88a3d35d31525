import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { targetEnvironment } from '../targets/start-targets.ts';
import { measureIdle } from './measure-idle.ts';
import { measureStarts } from './measure-starts.ts';
import { measureSubscribers } from './measure-subscribers.ts';

const MIB = 2 ** 20;

describe('the benchmark of starts and memory', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-start-'));
  const signal = new AbortController().signal;
  const env = targetEnvironment({ ...process.env, NODE_COMPILE_CACHE: join(dir, 'cache') });
  const around = { env, signal, log: () => undefined };
  afterAll(() => rmSync(dir, { recursive: true }));

  it('finds that a start on what is there takes less work than the first of all', async () => {
    const measured = await measureStarts({ ...around, dataDir: join(dir, 'starts'), starts: 1 });
    expect(measured.map(({ kind, rounds }) => [kind, rounds.length])).toEqual([
      ['first of all', 1],
      ['new data', 1],
      ['again', 1],
    ]);
    const [first, , again] = measured;
    expect(again?.cpuMs).toBeLessThan(first?.cpuMs ?? 0);
    for (const { readyMs, cpuMs } of measured) expect(Math.min(readyMs, cpuMs)).toBeGreaterThan(0);
  }, 120_000);

  it('finds less memory behind a collection, and a heap within what is resident', async () => {
    const idle = await measureIdle({
      ...around,
      dataDir: join(dir, 'idle'),
      hookDir: join(dir, 'hooks'),
      idleSeconds: 1,
    });
    const { resident, collected, held } = idle;
    expect(resident.own).toBeLessThan(resident.all);
    expect(held).toBeGreaterThan(10 * MIB);
    expect(held).toBeLessThan(collected.all);
  }, 60_000);

  it('finds that a subscriber takes some memory, and not much', async () => {
    const options = { ...around, dataDir: join(dir, 'subscribers'), sockets: [5, 105] as const };
    const [found] = await measureSubscribers({ ...options, protocols: ['sse'] });
    expect(found?.protocol).toBe('sse');
    expect(found?.held).toBeGreaterThan(1_000);
    expect(found?.held).toBeLessThan(100_000);
  }, 60_000);
});
