import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { lookAtDisk } from '../../src/room.ts';
import { createDirectoryStorage } from '../../src/storage/directory-storage.ts';

let root: string;
let dir: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'taskmesh-names-'));
  dir = join(root, 'backups');
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
});

afterAll(() => rm(root, { recursive: true }));

async function look(name: string): Promise<string> {
  const located = await createDirectoryStorage({ dir, now: () => Date.now(), look: lookAtDisk }).open(name);
  if (located.kind !== 'found') return located.kind;
  try {
    return await text(located.read());
  } finally {
    await located.close();
  }
}

describe('a name in the directory of archives', () => {
  it.each([
    '../x',
    '..',
    'a/../../x',
    '/etc/passwd',
    '../../etc/passwd',
    '../backups-evil/x',
    'to-file',
    'to-root/etc/passwd',
    'to-root/../etc',
    'to-root/no/such/file',
    '..\\..\\etc\\passwd',
    'C:\\x',
    'c:x',
    '\\\\server\\x',
    '//server/x',
    'folder/../../outside.tar.gz',
  ])('%j is outside', async (name) => {
    expect(await look(name)).toBe('outside');
  });

  it.each([
    '%2e%2e%2fx',
    '..%2fx',
    'dangling',
    'loop',
    'a\0b',
    'a.tar.gz\0.txt',
    '../x\0',
    '.',
    '',
    'folder',
    'folder/',
    'a.tar.gz/',
    'a.tar.gz/.',
    'a.tar.gz/../a.tar.gz',
    '....//x',
    'none.tar.gz',
    'no/such/folder/x',
    'n'.repeat(5_000),
    'd/'.repeat(5_000),
    '\ufffd',
    '\ud800.tar.gz',
    'pipe',
  ])('%j is missing', async (name) => {
    expect(await look(name)).toBe('missing');
  });

  it.each([
    ['a.tar.gz', 'inside'],
    ['./a.tar.gz', 'inside'],
    ['to-a', 'inside'],
    ['second-name', 'inside'],
    ['folder/b.tar.gz', 'deeper'],
    ['folder/../a.tar.gz', 'inside'],
    ['folder//b.tar.gz', 'deeper'],
  ])('%j is found', async (name, content) => {
    expect(await look(name)).toBe(content);
    expect(await look(join(dir, name))).toBe(content);
  });

  it('is missing when a socket has it', async () => {
    const server = createServer().listen(join(dir, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await look('socket')).toBe('missing');
    await new Promise((resolve) => server.close(resolve));
  });

  it('works where the directory itself is reached by a link', async () => {
    await symlink(dir, join(root, 'linked'));
    const located = await createDirectoryStorage({
      dir: join(root, 'linked'),
      now: () => Date.now(),
      look: lookAtDisk,
    }).open('a.tar.gz');
    expect(located.kind).toBe('found');
    if (located.kind === 'found') await located.close();
  });

  it('throws when the file may not be read', async () => {
    if (process.getuid?.() === 0) return expect(await rootReadsAll()).toBe('secret');
    await writeFile(join(dir, 'secret'), 'secret', { mode: 0 });
    await expect(look('secret')).rejects.toThrow('EACCES');
  });

  it('stays the same file when the name is given to another one meanwhile', async () => {
    await writeFile(join(dir, 'swapped'), 'first');
    const located = await createDirectoryStorage({ dir, now: () => Date.now(), look: lookAtDisk }).open('swapped');
    await rm(join(dir, 'swapped'));
    await writeFile(join(dir, 'swapped'), 'second');
    if (located.kind !== 'found') throw new Error('not found');
    expect(await text(located.read())).toBe('first');
    expect(await text(located.read())).toBe('first');
    await located.close();
  });
});

/** Permissions do not stop root: there the file is simply read. */
async function rootReadsAll(): Promise<string> {
  await writeFile(join(dir, 'secret'), 'secret');
  await chmod(join(dir, 'secret'), 0);
  return readFile(join(dir, 'secret'), 'utf8');
}
