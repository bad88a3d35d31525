import { unavailable } from '@taskmesh/contracts';
import { eventually, makeTempDir } from '@taskmesh/testing';
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { extractArchive } from '../../src/archives/extract-archive.ts';
import { unpackArchive } from '../../src/archives/unpack-archive.ts';
import { DiskSpaceError } from '../../src/disk-space.ts';
import { ExtractionError, archiveLimits, DEFAULT_SIZES, type ArchiveLimits } from '../../src/archives/limits.ts';
import { childrenOf } from '../support/memory.ts';
import { HARMLESS, HOSTILE } from './hostile-archives.ts';
import { tar } from './tar-bytes.ts';

const MIB = 1024 * 1024;
const LIMITS = archiveLimits(DEFAULT_SIZES);
let root: string;
let dir: string;
let out: string;

beforeEach(async () => {
  root = makeTempDir();
  out = join(root, 'out');
  dir = join(root, 'temporary', 'run');
  await mkdir(out);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(out, 'victim'), 'untouched');
});

const extract = (bytes: Buffer, limits: Partial<ArchiveLimits> = {}, usableBytes?: number) =>
  extractArchive({
    source: Readable.from([bytes]),
    sizeBytes: bytes.length,
    dir,
    limits: { ...LIMITS, ...limits },
    measureDisk: usableBytes === undefined ? undefined : () => Promise.resolve({ id: 1, usableBytes }),
  });

/** Does the same in this process, which is faster. */
const unpack = (bytes: Buffer) => unpackArchive(Readable.from([bytes]), { dir, limits: LIMITS });

async function expectNothingOutside() {
  expect((await readdir(root)).toSorted()).toEqual(['out', 'temporary']);
  expect(await readdir(join(root, 'temporary'))).toEqual(['run']);
  expect(await readdir(out)).toEqual(['victim']);
  expect(await readFile(join(out, 'victim'), 'utf8')).toBe('untouched');
}

describe('extracting an archive', () => {
  it.each(HARMLESS)('extracts %s', async (_what, bytes, files) => {
    await unpack(bytes());
    expect((await readdir(dir, { recursive: true })).toSorted()).toEqual(files.toSorted());
    for (const file of files) {
      const stats = await lstat(join(dir, file));
      expect([stats.mode & 0o7777, stats.isSymbolicLink()]).toEqual([stats.isDirectory() ? 0o700 : 0o600, false]);
    }
    await expectNothingOutside();
  });

  it.each(HOSTILE)('refuses %s', async (_what, bytes) => {
    const failure = await unpack(bytes(out)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ExtractionError);
    expect(String(failure)).not.toContain(dir);
    await expectNothingOutside();
    for (const file of await readdir(dir, { recursive: true }))
      expect((await lstat(join(dir, file))).isSymbolicLink()).toBe(false);
  });

  it('stops a decompression bomb at the limit', async () => {
    const head = gzipSync(tar([{ name: 'database.sql', size: 64 * MIB }], { end: false }));
    const bomb = Buffer.concat([head, ...Array.from({ length: 64 }, () => gzipSync(Buffer.alloc(MIB)))]);
    await expect(extract(bomb, { expandedBytes: 32 * MIB })).rejects.toThrow('expands to more than');
    await expectNothingOutside();
  });

  it('ignores what follows the end of an archive, without holding it in memory', async () => {
    const zeros = Array.from({ length: 128 }, () => gzipSync(Buffer.alloc(MIB)));
    await unpack(Buffer.concat([gzipSync(tar([{ name: 'database.sql', content: 'x' }])), ...zeros]));
    expect(await readdir(dir)).toEqual(['database.sql']);
  });

  it('stops at a quarter of the free disk space, even if the limits allow more', async () => {
    const bytes = gzipSync(tar([{ name: 'a', content: 'x'.repeat(3_000) }])); // 4,608 bytes of tar
    const cause = new DiskSpaceError('the disk has too little room');
    const failure = { message: expect.stringContaining('more than 4500 bytes'), cause };
    await expect(extract(bytes, {}, 18_000)).rejects.toMatchObject(failure);
    await expect(extract(bytes, {}, 18_432)).resolves.toBeUndefined();
  });

  it('refuses too many entries before it has written many', async () => {
    const entries = Array.from({ length: 10_500 }, (_, index) => ({ name: `f${index}` }));
    await expect(extract(gzipSync(tar(entries)))).rejects.toThrow('more than 10000 entries');
  });

  it('refuses an archive that is too large before reading it, and destroys its source', async () => {
    const source = Readable.from([]);
    await expect(extractArchive({ source, sizeBytes: 11, dir, limits: { ...LIMITS, compressedBytes: 10 } })).rejects.toThrow('more than 10 bytes'); // prettier-ignore
    expect(source.destroyed).toBe(true);
  });

  it('does not accept a complete archive from a source that fails at its end', async () => {
    const away = unavailable();
    const bytes = gzipSync(tar([{ name: 'a' }]));
    async function* parts() {
      yield bytes;
      await eventually(async () => expect(await readdir(dir)).toEqual(['a']));
      throw away;
    }
    const source = Readable.from(parts());
    await expect(extractArchive({ source, sizeBytes: bytes.length, dir, limits: LIMITS })).rejects.toBe(away);
  });

  it('does not blame the archive when someone kills the process', async () => {
    const others = childrenOf(process.pid);
    const own = () => childrenOf(process.pid).filter((child) => !others.includes(child));
    const source = new Readable({ read: () => undefined });
    const extracting = extractArchive({ source, sizeBytes: 1, dir, limits: LIMITS });
    const failure = expect(extracting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await eventually(() => expect(own()).toHaveLength(1));
    for (const child of own()) process.kill(child, 'SIGKILL');
    await failure;
    await expect(extract(gzipSync(tar([{ name: '/a' }])))).rejects.toThrow('absolute name');
    expect(own()).toEqual([]); // none is left behind, even if an archive is refused
  });

  it('gives up when the source is too slow', async () => {
    const source = new Readable({ read: () => undefined });
    source.push(gzipSync(tar([{ name: 'a' }])).subarray(0, 20));
    const limits = { ...LIMITS, timeoutMs: 50 };
    await expect(extractArchive({ source, sizeBytes: 100, dir, limits })).rejects.toThrow('longer than');
    expect(source.destroyed).toBe(true);
  });

  it('shortens and escapes a hostile name for the log', async () => {
    const failure = await extract(gzipSync(tar([{ name: `\u001b[2J${'x'.repeat(90)}` }]))).catch(String);
    expect(failure).toMatch(/entry "\\u001b\[2Jx+…" has a name with control characters/);
  });

  it('reports missing permission to write', async () => {
    await rm(dir, { recursive: true });
    await writeFile(dir, 'a file where the folder should be');
    await expect(extract(gzipSync(tar([{ name: 'a', content: 'x' }])))).rejects.toThrow(ExtractionError);
  });
});
