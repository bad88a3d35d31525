import type { AppError } from '@taskmesh/contracts';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { bothStores, createBackupFixture } from './support/backup-fixture.ts';
import { childrenOf } from './support/memory.ts';

const fixture = await createBackupFixture('transfer');

const MIB = 1024 * 1024;
const onDisk = (file: string) => join(fixture.config.backupsDir, file);
const upload = (file: string, ...parts: Buffer[]) => fixture.backup.backups.upload(file, Readable.from(parts));
const listed = async () => (await fixture.backup.backups.list()).map(({ file }) => file);
const names = async () => (await readdir(fixture.config.backupsDir)).toSorted();
const zipped = (text: string) => gzipSync(Buffer.from(text));

describe('an upload', () => {
  it('is listed with its known data, and is stored as it was sent', async () => {
    const content = gzipSync(randomBytes(3 * MIB));
    const pieces = [content.subarray(0, 1), content.subarray(1, 2), content.subarray(2, MIB), content.subarray(MIB)];
    const stored = await upload('sent.tar.gz', ...pieces);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const known = { file: 'sent.tar.gz', sizeBytes: content.length, sha256, stores: [], verifiedAt: null };
    expect([stored, await fixture.backup.backups.find('sent.tar.gz')]).toMatchObject([known, known]);
    expect((await readFile(onDisk('sent.tar.gz'))).equals(content)).toBe(true);
    expect((await stat(onDisk('sent.tar.gz'))).mode & 0o777).toBe(0o600);
  });

  it('is listed with the date and stores of its manifest, but never with a future date', async () => {
    const files = bothStores('sent');
    await fixture.archive('made-once.tar.gz', files);
    await upload('brought.tar.gz', await readFile(onDisk('made-once.tar.gz')));
    const brought = (await fixture.backup.backups.list()).find(({ file }) => file === 'brought.tar.gz');
    expect(brought).toMatchObject({
      createdAt: new Date('2026-01-01T00:00:00.000Z'),
      origin: 'upload',
      stores: ['tasks', 'auth'],
    });
    const manifest = files['manifest.json']?.replace('2026-01-01', '2999-01-01') ?? '';
    await fixture.archive('to-come.tar.gz', { ...files, 'manifest.json': manifest });
    const { createdAt } = await upload('from-the-future.tar.gz', await readFile(onDisk('to-come.tar.gz')));
    expect(createdAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('is examined in turn, however many arrive at once, because each examination needs a process and disk space', async () => {
    await fixture.archive('one-of-many.tar.gz', { ...bothStores('sent'), 'large.txt': 'x'.repeat(20 * MIB) });
    const content = await readFile(onDisk('one-of-many.tar.gz'));
    const others = childrenOf(process.pid).length;
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, childrenOf(process.pid).length - others)), 5);
    const steps: string[] = [];
    const send = async (name: string) => {
      const stored = () => void steps.push('stored');
      const sent = await fixture.backup.backups.upload(`${name}-at-once.tar.gz`, Readable.from([content]), stored);
      steps.push('looked into');
      return sent;
    };
    const sent = await Promise.all(['a', 'b', 'c', 'd'].map(send));
    clearInterval(timer);
    // Examining one archive does not delay reporting others as stored.
    expect(steps.lastIndexOf('stored')).toBeLessThan(steps.lastIndexOf('looked into') - 1);
    expect(sent.map(({ stores }) => stores)).toEqual(sent.map(() => ['tasks', 'auth']));
    expect(most).toBe(1);
  }, 60_000);

  it.each(['counted.tar.gz', '../counted.tar.gz'])('reports once that it is stored or refused: %s', async (file) => {
    let reports = 0;
    const uploading = fixture.backup.backups.upload(file, Readable.from([zipped('x')]), () => void (reports += 1));
    await uploading.catch(() => undefined);
    expect(reports).toBe(1);
  });

  it('succeeds for only one of several with the same name, and again with the content of that one', async () => {
    const sent = await Promise.allSettled(['a', 'b', 'c', 'd'].map((text) => upload('raced.tar.gz', zipped(text))));
    expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [winner] = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const stored = await readFile(onDisk('raced.tar.gz'));
    const sha256 = createHash('sha256').update(stored).digest('hex');
    expect([winner, await upload('raced.tar.gz', stored)]).toMatchObject([{ sha256 }, { sha256 }]);
    await expect(upload('raced.tar.gz', zipped('e'))).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('needs a name that can be listed, and the content that the name promises', async () => {
    const before = await names();
    const bad = ['notes.txt', 'a.tar', '.hidden.tar.gz', '../x.tar.gz', 'a/b.tar.gz', 'a\\b.tar.gz', 'a\0.tar.gz', 'a:1.tar.gz', '', '..', `${'x'.repeat(250)}.tar.gz`, '\ud800.tar.gz']; // prettier-ignore
    for (const [file, content] of [
      ...bad.map((file) => [file, zipped('x')] as const),
      ['text.tar.gz', Buffer.from('PK is no gzip')],
      ['empty.tar.gz', Buffer.alloc(0)],
      ['one-byte.tar.gz', Buffer.from([0x1f])],
      ['plain.tar.gz.age', zipped('not encrypted')],
    ] as const)
      expect([file, await upload(file, content).catch(({ code }: AppError) => code)]).toEqual([file, 'BAD_USER_INPUT']);
    expect(await names()).toEqual(before);
  });

  it('may be encrypted, with any content', async () => {
    await upload('secret.tar.gz.age', Buffer.from('age-encryption.org/v1\n-> X25519'), Buffer.from(' …'));
    expect(await listed()).toContain('secret.tar.gz.age');
  });

  it('is refused as soon as it is larger than a restore accepts', async () => {
    const before = await names();
    const small = await fixture.startOther({ maxArchiveBytes: MIB });
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 64 * 1024;
        this.push(sent === 64 * 1024 ? Buffer.concat([zipped('x'), Buffer.alloc(64 * 1024)]) : Buffer.alloc(64 * 1024));
      },
    });
    await expect(small.backups.upload('large.tar.gz', endless)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await small.stop();
    expect(endless.destroyed).toBe(true);
    expect(sent).toBeLessThan(2 * MIB);
    expect(await names()).toEqual(before);
  });
});

describe('a download', () => {
  it('is the file as stored, with its checksum if known', async () => {
    const content = zipped('to be downloaded');
    const { sha256 } = await upload('down.tar.gz', content);
    const download = await fixture.backup.backups.download('down.tar.gz');
    expect(download).toMatchObject({ sizeBytes: content.length, sha256 });
    if (!download) throw new Error('not found');
    await fixture.backup.backups.remove('down.tar.gz');
    expect((await buffer(download.read())).equals(content)).toBe(true);
    await download.close();
    await writeFile(onDisk('foreign.tar.gz'), content);
    const foreign = await fixture.backup.backups.download('foreign.tar.gz');
    expect(foreign?.sha256).toBeNull();
    await foreign?.close();
  });

  it('is possible only for listed archives', async () => {
    await writeFile(onDisk('notes.txt'), 'not for you');
    await mkdir(onDisk('folder'));
    await writeFile(onDisk('folder/inner.tar.gz'), 'not listed');
    for (const file of ['notes.txt', 'folder/inner.tar.gz', '../x.tar.gz', 'none.tar.gz', '', 'folder'])
      expect(await fixture.backup.backups.download(file)).toBeUndefined();
  });
});
