import { atEnd, makeTempDir } from '@taskmesh/testing';
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitLogFile } from './child-process.ts';

describe('a log file with a size limit', () => {
  it('is rotated when it is large, and up to three old logs are kept', async () => {
    const dir = makeTempDir();
    const file = join(dir, 'a.log');
    const stop = limitLogFile(file, { maxBytes: 1_000, checkMs: 10 });
    atEnd(stop);
    for (let round = 0; round < 6; round += 1) {
      appendFileSync(file, `${String(round).repeat(1_500)}\n`, { mode: 0o600 });
      while (statSync(file).size > 0) await sleep(10);
    }
    expect(readdirSync(dir).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3']);
    expect([1, 2, 3].map((age) => readFileSync(`${file}.${age}`, 'utf8')[0])).toEqual(['5', '4', '3']);
    expect(statSync(`${file}.1`).mode & 0o777).toBe(0o600);
  });

  it('is no longer rotated after the checks have stopped', async () => {
    const file = join(makeTempDir(), 'a.log');
    const content = 'x'.repeat(20_000_000);
    writeFileSync(file, content);
    const stop = limitLogFile(file, { maxBytes: 1_000, checkMs: 1 });
    while (!existsSync(`${file}.1`)) await new Promise(setImmediate);
    await stop();
    expect([file, `${file}.1`].map((each) => statSync(each).size)).toEqual([0, content.length]);
  });
});
