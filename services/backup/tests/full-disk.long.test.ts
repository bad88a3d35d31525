import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createBackupFixture } from './support/backup-fixture.ts';

const run = promisify(execFile);
const MEGABYTE = 1024 * 1024;
const FULL = /the disk (is full|has too little room)/;
const mounted: string[] = [];

/** Mounts a small disk in memory on a directory, which only root may do. */
async function mount(dir: string, sizeBytes: number): Promise<void> {
  await mkdir(dir, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes},mode=700`, 'tmpfs', dir]);
  mounted.push(dir);
}
const resize = (dir: string, sizeBytes: number) => run('mount', ['-o', `remount,size=${sizeBytes}`, dir]);
const fill = (dir: string, bytes: number) => writeFile(join(dir, 'filler'), randomBytes(bytes));
const inBackups = async () => (await readdir(fixture.config.backupsDir)).sort();

const fixture = await createBackupFixture('full_disk');
await mount(fixture.config.backupsDir, 64 * MEGABYTE);
await mount(fixture.config.temporaryDir, 64 * MEGABYTE);
await fixture.auth.query(`insert into accounts values (1, 'a@example.com')`);
await fixture.tasks.query(
  `insert into tasks select gen_random_uuid(), 'task ' || n || md5(n::text) from generate_series(1, 40000) n`,
);
const archive = (await fixture.backup.backups.create()).file;
afterEach(async () => {
  for (const dir of mounted) {
    await resize(dir, 64 * MEGABYTE);
    await rm(join(dir, 'filler'), { force: true });
  }
  // A failure leaves nothing behind and damages nothing.
  expect(await inBackups()).toEqual([archive]);
  expect(await fixture.leftovers()).toEqual([]);
  expect(await fixture.backup.backups.verify(archive)).toMatchObject({ file: archive });
  expect(await fixture.tasks.query('select count(*)::int as n from tasks')).toEqual([{ n: 40_000 }]);
}, 120_000);
afterAll(async () => {
  for (const dir of mounted) await run('umount', ['--lazy', dir]);
});

describe('on a full disk', () => {
  it('a backup without room for its dump is not made, and leaves nothing behind', async () => {
    await resize(fixture.config.temporaryDir, MEGABYTE);
    await expect(fixture.backup.backups.create()).rejects.toThrow(FULL);
  });

  it('a backup without room for its archive is not made, and the older one is intact', async () => {
    await fill(fixture.config.backupsDir, 40 * MEGABYTE);
    const { size } = await stat(join(fixture.config.backupsDir, archive));
    await resize(fixture.config.backupsDir, 40 * MEGABYTE + size + MEGABYTE / 2);
    await expect(fixture.backup.backups.create()).rejects.toThrow(FULL);
  });

  it('an upload without room is refused', async () => {
    await fill(fixture.config.backupsDir, 50 * MEGABYTE);
    const upload = Readable.from([gzipSync(randomBytes(32 * MEGABYTE))]);
    await expect(fixture.backup.backups.upload('taskmesh-large.tar.gz', upload)).rejects.toThrow(FULL);
  });

  it('a restore without room changes nothing', async () => {
    await fill(fixture.config.temporaryDir, 60 * MEGABYTE);
    await resize(fixture.config.temporaryDir, 61 * MEGABYTE);
    expect(await fixture.restore(archive)).toMatchObject({ databaseRestored: false });
  });

  it('a restore works as soon as there is room again', async () => {
    expect(await fixture.restore(archive)).toMatchObject({ databaseRestored: true, outcome: 'RESTORED' });
  });
});
