import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sweepUnfinished, withUnfinished } from './unfinished-files.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-unfinished-'));
});
afterAll(() => rm(dir, { recursive: true }));

it('what a killed writer has left goes at once, also when a restarted container has its process id, and the rest stays', async () => {
  await writeFile(join(dir, `.unfinished-${process.pid}-ab-${hostname()}`), 'left by a process of the same id');
  await withUnfinished(dir, async (path) => {
    await writeFile(path, 'being written');
    expect(await sweepUnfinished(dir, Date.now())).toBe(1);
    expect(await readdir(dir)).toEqual([basename(path)]);
  });
  expect(await readdir(dir)).toEqual([]);
});
