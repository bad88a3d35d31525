import { eventually, makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { archiveLimits, DEFAULT_SIZES } from '../../src/archives/limits.ts';
import { unpackArchive } from '../../src/archives/unpack-archive.ts';
import { writeArchive } from '../../src/archives/make-archive.ts';

const MIB = 1024 * 1024;
const FILES = ['manifest.json', 'database.sql', 'auth.sql'];

let dir: string;
beforeEach(async () => {
  dir = makeTempDir();
});

/** Returns words that compress well but do not repeat. */
const words = (bytes: number) => {
  const parts = [];
  for (let n = 0; n * 64 < bytes; n++) parts.push(createHash('sha256').update(`${n}`).digest('hex').slice(0, 63), '\n');
  return parts.join('').slice(0, bytes);
};

it('writes an archive of many blocks that can be read back, in one piece or cut anywhere', async () => {
  const contents = ['{}', words(4.3 * MIB), ''];
  const source = join(dir, 'source');
  await mkdir(source);
  for (const [index, file] of FILES.entries()) await writeFile(join(source, file), contents[index] ?? '');
  const read: number[] = [];
  const onRead = (bytes: number) => void read.push(bytes);
  const parts = await writeArchive({ dir: source, files: FILES, modifiedAt: new Date(), onRead }).toArray();
  expect(parts.length).toBeGreaterThan(5);
  expect(read.at(-1)).toBeGreaterThan(4.3 * MIB);
  const whole = Buffer.concat(parts);
  for (const [index, arranged] of [parts, [whole], cut(whole, 65_521)].entries()) {
    const target = join(dir, `target-${index}`);
    await mkdir(target);
    await unpackArchive(Readable.from(arranged), { dir: target, limits: archiveLimits(DEFAULT_SIZES) });
    for (const [at, file] of FILES.entries())
      expect((await readFile(join(target, file), 'utf8')) === contents[at]).toBe(true);
  }
  expect(execFileSync('tar', ['-tzf', '-'], { input: whole }).toString().trim().split('\n')).toEqual(FILES);
});

it('opens the files of an archive only once it is read, and closes them when its reader stops or one of them cannot be read', async () => {
  const files = ['one.sql', 'two.sql', 'three.sql'];
  for (const file of files) await writeFile(join(dir, file), randomBytes(4 * MIB));
  const source = { dir, files, modifiedAt: new Date() };
  writeArchive(source).destroy();
  await buffer(writeArchive(source));
  for await (const part of writeArchive(source)) if (part) break;
  await expect(buffer(writeArchive({ ...source, files: ['gone.sql', ...files] }))).rejects.toThrow(/gone\.sql/);
  await eventually(async () => {
    const paths = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    expect((await Promise.all(paths)).filter((path) => path.startsWith(dir))).toEqual([]);
  });
});

const cut = (bytes: Buffer, length: number) =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) => bytes.subarray(n * length, (n + 1) * length));
