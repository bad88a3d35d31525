import { isAlive, runInDataDir, untilReady } from '@taskmesh/local-servers';
import { temporaryDir } from '@taskmesh/local-servers/testing';
import { join } from 'node:path';

import { eventually } from '@taskmesh/testing';
import { supervise } from './supervise.ts';

const dir = temporaryDir('supervise');

/** Starts a process that sleeps. */
function sleep(name: string) {
  const prepare = async () => ({ command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1_000)'] });
  const run = { name, dataDir: join(dir, name), ladder: [['SIGTERM', 5_000]], prepare } as const;
  return runInDataDir({ ...run, ready: async () => true }, { log: () => undefined });
}

/** Supervises such a process; the first `failures` starts after the first one fail. */
async function supervised(name: string, { revive = true, failures = 0, maxTries = Infinity } = {}) {
  const lines: string[] = [];
  let starts = 0;
  const start = async () => {
    starts++;
    if (starts > 1 && starts <= 1 + failures) throw new Error('not now');
    return sleep(name);
  };
  const log = (line: string) => lines.push(line);
  const process = await supervise({ name, start, revive, maxTries, log, onChange: () => undefined });
  return { process, lines, starts: () => starts };
}

describe('a supervised process', () => {
  it('is started again with increasing delays while its start fails', async () => {
    const { process, lines, starts } = await supervised('stubborn', { failures: 2 });
    const begin = Date.now();
    process.kill('SIGKILL');
    await process.waitExit();
    await process.waitReady();
    expect(starts()).toBe(4);
    expect(Date.now() - begin).toBeGreaterThanOrEqual(200 + 400 + 800);
    expect(lines.filter((line) => line.includes('not now'))).toHaveLength(2);
    await process.stop();
  });

  it('stays down without automatic restarts, until it is restarted by hand', async () => {
    const { process, lines } = await supervised('left', { revive: false });
    process.kill('SIGKILL');
    await process.waitExit();
    await eventually(() => expect(lines).toHaveLength(1));
    expect(process.isUp).toBe(false);
    for (let times = 0; times < 2; times++) {
      const before = process.pid;
      await process.restart();
      expect([process.isUp, isAlive(before), isAlive(process.pid)]).toEqual([true, false, true]);
    }
    await process.stop();
    expect(lines).toHaveLength(1); // a restart is not a failure
  });

  it('does not start again after it was stopped or retired, even if a restart is pending', async () => {
    const [stopped, retired] = [await supervised('stopped'), await supervised('retired')];
    retired.process.retire();
    for (const { process } of [stopped, retired]) {
      process.kill('SIGKILL');
      await process.waitExit();
      await process.stop();
      await expect(process.waitReady()).rejects.toThrow();
    }
    expect([stopped.starts(), retired.starts(), retired.lines]).toEqual([1, 1, []]);
  });

  it('stops at once during a slow start', async () => {
    let starts = 0;
    const start = async (signal: AbortSignal) => {
      starts += 1;
      const child = await sleep('slow');
      if (starts > 1) await untilReady(child, { name: 'slow', ready: async () => false, timeoutMs: 60_000, signal });
      return child;
    };
    const nothing = () => undefined;
    const process = await supervise({ name: 'slow', start, revive: true, log: nothing, onChange: nothing });
    process.kill('SIGKILL');
    await eventually(() => starts === 2);
    const begin = Date.now();
    await process.stop();
    expect(Date.now() - begin).toBeLessThan(5_000);
  });

  it('is given up after several failed starts, with the reason', async () => {
    const { process, lines, starts } = await supervised('hopeless', { failures: 9, maxTries: 2 });
    process.kill('SIGKILL');
    const { message } = await process.givenUp;
    expect(message).toMatch(/^hopeless does not stay up: it was restarted 2 times\. Log: /);
    expect(starts()).toBe(3);
    expect(lines.filter((line) => line.includes('not now'))).toHaveLength(2);
    await process.stop();
  });
});
