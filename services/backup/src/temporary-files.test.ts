import { createLog } from '@taskmesh/service';
import { makeTempDir } from '@taskmesh/testing';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { createTemporaryDirs } from './temporary-files.ts';

let dir: string;
beforeEach(async () => (dir = makeTempDir()));

const logged: string[] = [];
const log = createLog({ service: 'test', level: 'error', destination: { write: (line) => void logged.push(line) } });
const HOST = hostname();
const NO_SUCH_PROCESS = 2 ** 22 + 1; // above the largest id on Linux
const TWO_DAYS_AGO = new Date(Date.now() - 48 * 60 * 60 * 1000);

describe('temporary directories', () => {
  it('are private, and removed after the work', async () => {
    const mode = await createTemporaryDirs({ dir, now: Date.now, log }).use(async (folder) => {
      await writeFile(join(folder, 'x'), 'x');
      return (await stat(folder)).mode & 0o777;
    });
    expect(mode).toBe(0o700);
    expect(await readdir(dir)).toEqual([]);
  });

  it('are logged and swept later if they cannot be removed, without changing the outcome of the work', async () => {
    const remove = () => Promise.reject(new Error('the disk is gone'));
    const dirs = createTemporaryDirs({ dir, now: Date.now, log, remove });
    expect(await dirs.use(async () => 'done')).toBe('done');
    await expect(dirs.use(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
    expect(logged).toEqual([expect.stringContaining('the disk is gone'), expect.stringContaining('the disk is gone')]);
    expect(await createTemporaryDirs({ dir, now: Date.now, log }).sweep()).toBe(2);
  });

  it('are swept if their process is dead, even if it had our id, or if they are older than any run; all others stay', async () => {
    const staying = [`run-${process.ppid}-abc-${HOST}`, `run-${NO_SUCH_PROCESS}-abc-another-host`, 'other'];
    for (const name of [`run-${NO_SUCH_PROCESS}-abc-${HOST}`, `run-${process.pid}-abc-${HOST}`, ...staying])
      await mkdir(join(dir, name, 'deep'), { recursive: true });
    expect(await createTemporaryDirs({ dir, now: Date.now, log }).sweep()).toBe(2);
    expect((await readdir(dir)).toSorted()).toEqual(staying.toSorted());
    for (const name of staying) await utimes(join(dir, name), TWO_DAYS_AGO, TWO_DAYS_AGO);
    expect(await createTemporaryDirs({ dir, now: Date.now, log }).sweep()).toBe(2);
    expect(await readdir(dir)).toEqual(['other']);
  });

  it('of another service in this process stay while they are in use, however long that is', async () =>
    createTemporaryDirs({ dir, now: Date.now, log }).use(async (folder) => {
      await utimes(folder, TWO_DAYS_AGO, TWO_DAYS_AGO);
      expect(await createTemporaryDirs({ dir, now: Date.now, log }).sweep()).toBe(0);
      expect(await readdir(dir)).toEqual([basename(folder)]);
    }));
});
