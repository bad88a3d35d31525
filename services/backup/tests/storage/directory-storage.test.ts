import { errorMessage } from '@taskmesh/contracts/error-details';
import { eventually, makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { chmod, chown, link, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { statDisk } from '../../src/disk-space.ts';
import { ArchiveExistsError, type OpenArchive } from '../../src/storage/backup-storage.ts';
import { createDirectoryStorage } from '../../src/storage/directory-storage.ts';
import { describeBackupStorage } from './storage.contract.ts';

const root = makeTempDir();

const dir = join(root, 'backups');
await mkdir(join(dir, 'folder'), { recursive: true });
await mkdir(join(root, 'backups-evil'));
await writeFile(join(root, 'backups-evil', 'x'), 'outside');
await writeFile(join(root, 'outside.tar.gz'), 'outside');
await writeFile(join(dir, 'a.tar.gz'), 'inside');
await writeFile(join(dir, 'folder', 'b.tar.gz'), 'deeper');
await symlink(join(root, 'outside.tar.gz'), join(dir, 'to-file'));
await symlink('/', join(dir, 'to-root'));
await symlink('a.tar.gz', join(dir, 'to-a'));
await symlink('nowhere', join(dir, 'dangling'));
await symlink('loop', join(dir, 'loop'));
await link(join(dir, 'a.tar.gz'), join(dir, 'second-name'));
execFileSync('mkfifo', [join(dir, 'pipe')]);

const storage = (place = dir) => createDirectoryStorage({ dir: place, now: () => Date.now(), measureDisk: statDisk });

async function contentOf(name: string): Promise<string> {
  const located = await storage().open(name);
  if (located.kind !== 'found') return located.kind;
  try {
    return await text(located.read());
  } finally {
    await located.close();
  }
}

describe('a name in the archive directory', () => {
  // storage.contract.ts has the names that every storage must reject.
  it.each<[expected: string, names: string[]]>([
    ['outside', ['../../etc/passwd', '../backups-evil/x', 'to-file', 'to-root/etc/passwd', 'to-root/no/such/file', '//server/x', 'folder/../../outside.tar.gz']],
    ['missing', ['..%2fx', 'dangling', 'loop', 'a.tar.gz\0.txt', '../x\0', 'folder', 'a.tar.gz/', 'a.tar.gz/../a.tar.gz', 'no/such/folder/x',
      'n'.repeat(5_000), 'd/'.repeat(5_000), '\ufffd', 'pipe', 'socket']],
    ['inside', ['./a.tar.gz', join(dir, 'a.tar.gz'), 'to-a', 'second-name', 'folder/../a.tar.gz']],
    ['deeper', ['folder//b.tar.gz']],
  ])('is %s', async (expected, names) => {
    const socket = createServer().listen(join(dir, 'socket'));
    await once(socket, 'listening');
    for (const name of names) expect([name, await contentOf(name)]).toEqual([name, expected]);
    socket.close();
  }); // prettier-ignore

  it('works if the directory itself is a link', async () => {
    await symlink(dir, join(root, 'linked'));
    expect(await storage(join(root, 'linked')).find('a.tar.gz')).toMatchObject({ sizeBytes: 'inside'.length });
  });

  it('stays the same open file if the name is reused meanwhile', async () => {
    await writeFile(join(dir, 'swapped'), 'first');
    const located = (await storage().open('swapped')) as OpenArchive;
    await rm(join(dir, 'swapped'));
    await writeFile(join(dir, 'swapped'), 'second');
    for (const _time of [1, 2]) expect(await text(located.read())).toBe('first');
    await located.close();
  });

  it.each([
    ['exactly the announced bytes of a file that grows meanwhile', 9, 'inside'],
    ['no file that becomes shorter meanwhile', 2, 'The archive has become shorter while it was read.'],
  ])('reads %s', async (_what, newLength, expected) => {
    const file = join(dir, 'copied');
    await writeFile(file, 'inside');
    const located = (await storage().open('copied')) as OpenArchive;
    expect(located.sizeBytes).toBe(6);
    await truncate(file, newLength);
    expect(await text(located.read()).catch(errorMessage)).toBe(expected);
    await located.close();
  });
});

describe('a listed archive directory', () => {
  const files = async () => (await storage().list()).map(({ file }) => file).toSorted();

  it('follows links as long as their targets are inside', async () => {
    await symlink('a.tar.gz', join(dir, 'link.tar.gz'));
    await symlink(join(dir, 'folder', 'b.tar.gz'), join(dir, 'deep.tar.gz'));
    await symlink(join(root, 'outside.tar.gz'), join(dir, 'out.tar.gz'));
    await symlink('nowhere', join(dir, 'dangling.tar.gz'));
    await symlink('loop.tar.gz', join(dir, 'loop.tar.gz'));
    await symlink('folder', join(dir, 'folder.tar.gz'));
    expect(await files()).toEqual(['a.tar.gz', 'deep.tar.gz', 'link.tar.gz']);
    const found = await Promise.all((await readdir(dir)).map(async (name) => [name, await contentOf(name)] as const));
    const readable = found.filter(([name, content]) => name.endsWith('.tar.gz') && /^(inside|deeper)$/.test(content));
    expect(readable.map(([name]) => name).toSorted()).toEqual(await files());
    expect(await storage().find('deep.tar.gz')).toMatchObject({ file: 'deep.tar.gz', sizeBytes: 'deeper'.length });
  });

  it('removes a name but not its target, and no name that is not listed', async () => {
    expect(await storage().remove('link.tar.gz')).toBe(true);
    expect(await files()).toEqual(['a.tar.gz', 'deep.tar.gz']);
    const unlisted = ['out.tar.gz', 'dangling.tar.gz', 'folder.tar.gz', 'notes.txt', '.hidden.tar.gz'];
    for (const name of ['notes.txt', '.hidden.tar.gz']) await writeFile(join(dir, name), 'keep');
    for (const name of unlisted) expect([name, await storage().remove(name)]).toEqual([name, false]);
    expect(await readdir(dir)).toEqual(expect.arrayContaining(unlisted));
  });

  it.each([
    ['missing', 'it does not exist', () => join(root, 'gone')],
    ['a file', 'it is not a directory', () => join(root, 'outside.tar.gz')],
    ['below a file', 'it is not a directory', () => join(root, 'outside.tar.gz', 'more')],
  ])('fails when it is %s instead of looking empty, and is not recreated', async (_what, why, place) => {
    const message = `The directory of the archives cannot be used: ${why}.`;
    const failure = { code: 'SERVICE_UNAVAILABLE', message, retryAfterSeconds: expect.any(Number) };
    const { list, open, remove, find } = storage(place());
    for (const work of [list, open, remove, find]) await expect(work('a.tar.gz')).rejects.toMatchObject(failure);
    expect(await readdir(root)).not.toContain('gone');
  });

  it.each([
    ['it is not readable', 0o300, 0o600, ['list']],
    ['its files are not accessible', 0o600, 0o600, ['list', 'open', 'remove']],
    ['it is not writable', 0o500, 0o600, ['remove']],
    ['a file is not readable', 0o700, 0, ['open']],
  ] as const)('reports when %s', async (_what, mode, fileMode, failing) => {
    const place = join(root, `mode-${mode}`);
    await mkdir(place);
    await writeFile(join(place, 'a.tar.gz'), 'a', { mode: fileMode });
    for (const path of [place, join(place, 'a.tar.gz')]) await chown(path, NOBODY, NOBODY);
    await chmod(place, mode);
    const failure = { code: 'SERVICE_UNAVAILABLE', message: 'The directory of the archives cannot be used: no permission.' };
    await withoutRights(async () => {
      for (const work of failing) await expect(storage(place)[work]('a.tar.gz')).rejects.toMatchObject(failure);
    });
    await chmod(place, 0o700);
  }); // prettier-ignore

  it('is created if it is missing, which is reported', async () => {
    const place = join(root, 'new', 'place');
    expect(await storage(place).prepare()).toBe(true);
    expect(await storage(place).list()).toEqual([]);
    expect(await storage(place).prepare()).toBe(false);
    await rename(place, `${place}.away`);
    await expect(storage(place).write('a.tar.gz', Readable.from(['x']))).rejects.toThrow('it does not exist');
  });
});

const NOBODY = 65_534;

/** Runs `work` without root's privileges, because permissions do not apply to root. */
async function withoutRights(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  await chmod(root, 0o755);
  await chmod(dir, 0o755);
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

it('stores one of two archives of the same name, and no empty file before, even on a file system without hard links', async () => {
  const place = makeTempDir();
  const name = `${'a'.repeat(248)}.tar.gz`; // as long as a name can be
  const events: unknown[] = [];
  const watcher = watch(place, (_event, changed) => events.push(changed));
  const { promise: bothWritten, resolve } = Promise.withResolvers<void>();
  let links = 0;
  const linkFile = async () => {
    if (++links === 2) resolve();
    await bothWritten;
    throw Object.assign(new Error('no links'), { code: 'EPERM' });
  };
  const { write } = createDirectoryStorage({ dir: place, now: Date.now, measureDisk: statDisk, linkFile });
  const written = await Promise.allSettled(['one', 'two'].map((text) => write(name, Readable.from([text]))));
  expect(written.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await readdir(place)).toEqual([name]);
  await expect(write(name, Readable.from(['three']))).rejects.toThrow(ArchiveExistsError);
  await rm(join(place, name));
  await writeFile(join(place, 'end'), '');
  await eventually(() => expect(events).toContain('end'));
  watcher.close();
  expect(events.filter((changed) => changed === name)).toHaveLength(2); // when it got its name, and when it was deleted
});

describe('an empty directory', () => {
  const empty = makeTempDir();
  afterAll(async () => expect(await readdir(empty)).toEqual([]));

  describeBackupStorage('a directory', () => storage(empty));
});
