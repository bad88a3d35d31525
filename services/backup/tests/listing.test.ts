import type { AppError } from '@taskmesh/contracts';
import { createRecordingLog } from '@taskmesh/service/testing';
import type { Identity } from '@taskmesh/identity';
import type { WorkProgress } from '@taskmesh/internal-api';
import { eventually } from '@taskmesh/testing';
import { generateX25519Identity } from 'age-encryption';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { createBackup } from '../src/index.ts';
import { tar } from './archives/tar-bytes.ts';
import { bothStores, createBackupFixture, tasksDump } from './support/backup-fixture.ts';
import { childrenOf } from './support/memory.ts';

const KEY = await generateX25519Identity();

const fixture = await createBackupFixture('listing');
beforeEach(() => fixture.reset());

const MIB = 1024 * 1024;
const onDisk = (file: string) => join(fixture.config.backupsDir, file);
const put = (file: string, content: Buffer | string) => writeFile(onDisk(file), content);
const zipped = (text: string) => gzipSync(Buffer.from(text));
const upload = (file: string, ...parts: Buffer[]) => fixture.backup.backups.upload(file, Readable.from(parts));
const names = async () => (await readdir(fixture.config.backupsDir)).toSorted();

describe('backups', () => {
  const list = async () =>
    (await fixture.request('{ backups { file sizeBytes sha256 createdAt stores verifiedAt } }')).data.backups;
  const putAt = async (file: string, content: string, time: string) => {
    await put(file, content);
    await utimes(onDisk(file), new Date(time), new Date(time));
  };

  it('are for operators only', async () => {
    const queries = ['backups { file }', 'backup(file: "x") { file }', 'undoableRestore { file }'];
    const mutations = ['createBackup { file }', 'verifyBackup(file: "x") { file }', 'scanBackups { added }', 'deleteBackup(file: "x")', 'restoreBackup(file: "x") { success }', 'dryRunRestore(file: "x") { possible }', 'undoRestore { success }', 'newEpoch { epoch }']; // prettier-ignore
    const user = { role: 'user', userId: 'u', sessionId: 's' } as const;
    for (const query of [...queries.map((each) => `{ ${each} }`), ...mutations.map((each) => `mutation { ${each} }`)]) {
      const codeFor = async (identity: Identity) => (await fixture.request(query, {}, identity)).error?.code;
      expect([query, await codeFor({ role: 'anonymous' })]).toEqual([query, 'UNAUTHENTICATED']);
      expect([query, await codeFor(user)]).toEqual([query, 'FORBIDDEN']);
    }
  });

  it('are the archives in the directory, newest first, and nothing else', async () => {
    expect(await list()).toEqual([]);
    await putAt('old.tar.gz', 'old', '2026-01-01T00:00:00Z');
    await putAt('new.tar.gz', 'newer', '2026-01-02T00:00:00Z');
    await putAt('secret.tar.gz.age', 'x', '2026-01-01T12:00:00Z');
    await put('.half.tar.gz', 'half written');
    await put('notes.txt', 'no archive');
    await putAt('ahead.tar.gz', 'of a clock that was ahead', '2099-01-01T00:00:00Z');
    const unknown = { sha256: null, stores: [], verifiedAt: null };
    expect(await list()).toMatchObject([
      { ...unknown, file: 'new.tar.gz', sizeBytes: 5, createdAt: '2026-01-02T00:00:00.000Z' },
      ...['secret.tar.gz.age', 'old.tar.gz', 'ahead.tar.gz'].map((file) => ({ ...unknown, file })),
    ]);
    const { data } = await fixture.request('{ backup(file: "old.tar.gz") { file } other: backup(file: "../old.tar.gz") { file } }');
    expect(data).toEqual({ backup: { file: 'old.tar.gz' }, other: null });
  }); // prettier-ignore

  it('cause a warning at startup if the directory is empty but the catalogue is not, because a disk may not be mounted', async () => {
    await fixture.own.query(`insert into backups values ('known.tar.gz', 5, 'abc', now(), '{tasks}')`);
    await fixture.withOther({ backupsDir: join(fixture.config.backupsDir, 'elsewhere') }, async ({ logged }) => {
      const msg = expect.stringContaining('is its disk mounted?');
      const line = expect.objectContaining({ level: 'warn', wasMade: true, known: expect.any(Number), msg });
      await eventually(() => expect(logged).toContainEqual(line));
    });
  });
});

it('a scan rebuilds a lost catalogue from the archives', async () => {
  const { backups } = fixture.backup;
  const made = [await backups.create(), await backups.create()];
  const secret = await fixture.withOther({ secrets: { keys: [KEY] } }, (other) => other.backups.create());
  await backups.verify(made[1]?.file ?? '');
  await fixture.archive('foreign.tar.gz', { 'database.sql': tasksDump(['one']) });
  await put('broken.tar.gz', 'no archive');
  await fixture.own.query(`delete from backups where file <> '${made[1]?.file}'`);

  const steps: WorkProgress[] = [];
  expect(await backups.scan((progress) => steps.push(progress))).toEqual({ archives: 5, added: 1, unread: 3 });
  expect(steps.at(-1)).toMatchObject({ phase: 'scan', doneBytes: steps[0]?.totalBytes });
  const [first, second] = await Promise.all(made.map(({ file }) => backups.find(file)));
  expect(first).toMatchObject({ stores: ['tasks', 'auth'], origin: 'unknown', verifiedAt: null });
  expect(first?.createdAt).toEqual(made[0]?.createdAt);
  expect(second).toMatchObject({ origin: 'request', verifiedAt: expect.any(Date), sha256: made[1]?.sha256 });
  expect(await backups.find(secret.file)).toMatchObject({ stores: [], sizeBytes: secret.sizeBytes });

  await fixture.withOther({ secrets: { keys: [KEY] } }, async (other) => {
    expect(await other.backups.scan()).toEqual({ archives: 5, added: 1, unread: 2 });
    expect((await other.backups.find(secret.file))?.createdAt).toEqual(secret.createdAt);
  });
}, 180_000);

const own = bothStores('one');
const whole = gzipSync(tar(Object.entries(own).map(([name, content]) => ({ name, content }))));
const entriesByFile = async () => {
  const { data } = await fixture.request('{ backups { file stores unfitAt unfitReason verifiedAt } }');
  const backups = data.backups as Record<string, unknown>[];
  return new Map(backups.map(({ file, ...entry }) => [file, entry]));
};

it('the list shows copied archives that are unfit for a restore, with the reason', async () => {
  type Copied = [file: string, content: Buffer | Record<string, string>, reason: RegExp | null, stores?: string[]];
  const archives: Copied[] = [
    ['no-archive.tar.gz', Buffer.from('no archive'), /not an intact gzip file/],
    ['cut.tar.gz', whole.subarray(0, whole.length - 20), /ends too early/],
    ['no-age.tar.gz.age', Buffer.from('no age file'), null], // it cannot be examined without its key
    ['whole.tar.gz', whole, null, ['tasks', 'auth']],
    ['no-dump.tar.gz', { 'notes.txt': 'hello' }, /no database.sql/],
    ['no-manifest.tar.gz', { ...own, 'manifest.json': '{"format": 3}' }, /manifest is not from Taskmesh/],
    ['other-dump.tar.gz', { ...own, 'auth.sql': 'select 1;' }, /auth.sql does not match the manifest/],
    ['by-hand.tar.gz', { 'database.sql': tasksDump(['one']) }, null],
  ];
  for (const [file, content] of archives)
    await (Buffer.isBuffer(content) ? put(file, content) : fixture.archive(file, content));
  await eventually(async () => {
    const entries = await entriesByFile();
    for (const [file, , reason, stores = []] of archives) {
      const unfit = { unfitAt: expect.any(String), unfitReason: reason && expect.stringMatching(reason) };
      const expected = { stores, verifiedAt: null, ...(reason ? unfit : { unfitAt: null, unfitReason: null }) };
      expect([file, entries.get(file)]).toEqual([file, expected]);
    }
  });
}, 180_000);

const damaged = Buffer.from(whole);
damaged[whole.length >> 1] = ~(damaged[whole.length >> 1] ?? 0);

it.each([
  ['a part of it', whole.subarray(0, 100)],
  ['a damaged copy of the same size', damaged],
])('the list examines the archive again after the complete one replaces %s', async (_what, before) => {
  const entry = async () => (await entriesByFile()).get('copied.tar.gz');
  await put('copied.tar.gz', before);
  await eventually(async () => expect(await entry()).toMatchObject({ unfitAt: expect.any(String) }));
  await put('copied.tar.gz', whole);
  await eventually(async () => expect(await entry()).toMatchObject({ unfitAt: null, stores: ['tasks', 'auth'] }));
  expect(await fixture.backup.backups.scan()).toMatchObject({ added: 0 });
});

describe('the status of backup for operators', () => {
  it('shows the number of archives, the newest one, and the newest verified one, if the archive storage responds', async () => {
    const { backup } = fixture;
    const archivesNow = async () => (await backup.operators.status()).backups.archives;
    expect(await archivesNow()).toEqual({ count: 0, totalBytes: 0, newest: null, newestProved: null });
    const proved = await backup.backups.create();
    await backup.backups.verify(proved.file);
    const newest = await backup.backups.create();
    await fixture.archive('found.tar.gz', { 'readme.txt': 'nothing' });
    expect(await archivesNow()).toMatchObject({
      count: 3,
      newest: { file: newest.file, createdAt: newest.createdAt.toISOString(), verifiedAt: null },
      newestProved: { file: proved.file, verifiedAt: expect.stringMatching(/Z$/) },
    });
    const { backupsDir } = fixture.config;
    await rename(backupsDir, `${backupsDir}-away`);
    expect(await archivesNow()).toBeNull();
    await rename(`${backupsDir}-away`, backupsDir);
  });

  it('shows when the next archive is due, what is kept, and since when the schedule has been failing', async () => {
    const settings = { schedule: '30 3 * * *', verifySchedule: '0 5 * * 0', keep: { last: 3, daily: 7 } };
    const deps = { clock: { now: () => Date.parse('2026-11-20T10:00Z') }, owners: fixture.owners, log: createRecordingLog().log };
    const other = await createBackup({ ...fixture.config, ...settings }, deps);
    await fixture.own.query(`insert into failing_runs values ('backup', '2026-11-19T03:30:00Z', null)`);
    expect(await other.operators.status()).toMatchObject({
      store: { isUp: true, missing: [], unknown: [] },
      backups: {
        ...{ place: 'directory', isEncrypted: false, verifiesScheduled: true, keep: { last: 3, daily: 7 } },
        schedule: { pattern: '30 3 * * *', nextAt: '2026-11-21T03:30:00.000Z', failingSince: '2026-11-19T03:30:00.000Z' },
        verifySchedule: { pattern: '0 5 * * 0', nextAt: '2026-11-22T05:00:00.000Z', failingSince: null },
      },
    });
    await other.stop();
  }); // prettier-ignore

  it('omits the undoable restore while it is unknown', async () => {
    const current = async () => (await fixture.backup.operators.status()).backups;
    expect(await current()).toHaveProperty('undoable', null);
    await fixture.own.query('alter table restores rename to restores_away');
    expect(await current()).not.toHaveProperty('undoable');
    await fixture.own.query('alter table restores_away rename to restores');
  });
});

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
    const createdOnce = new Date('2026-01-01T00:00:00.000Z');
    expect(brought).toMatchObject({ createdAt: createdOnce, origin: 'upload', stores: ['tasks', 'auth'] });
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
    expect(await fixture.backup.backups.list()).toMatchObject([{ file: 'secret.tar.gz.age' }]);
  });

  it('is refused as soon as it is larger than a restore accepts', async () => {
    const before = await names();
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 64 * 1024;
        this.push(sent === 64 * 1024 ? Buffer.concat([zipped('x'), Buffer.alloc(64 * 1024)]) : Buffer.alloc(64 * 1024));
      },
    });
    const sending = fixture.withOther({ maxArchiveBytes: MIB }, ({ backups }) =>
      backups.upload('large.tar.gz', endless),
    );
    await expect(sending).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(endless.destroyed).toBe(true);
    expect(sent).toBeLessThan(2 * MIB);
    expect(await names()).toEqual(before);
  });
});

it('a download is the file as stored, with its checksum if known', async () => {
  const content = zipped('to be downloaded');
  const { sha256 } = await upload('down.tar.gz', content);
  const download = await fixture.backup.backups.download('down.tar.gz');
  expect(download).toMatchObject({ sizeBytes: content.length, sha256 });
  if (!download) throw new Error('not found');
  await fixture.backup.backups.remove('down.tar.gz');
  expect((await buffer(download.read())).equals(content)).toBe(true);
  await download.close();
  await put('foreign.tar.gz', content);
  const foreign = await fixture.backup.backups.download('foreign.tar.gz');
  expect(foreign?.sha256).toBeNull();
  await foreign?.close();
});

it('a download is possible only for listed archives', async () => {
  await put('notes.txt', 'not for you');
  await mkdir(onDisk('folder'));
  await put('folder/inner.tar.gz', 'not listed');
  for (const file of ['notes.txt', 'folder/inner.tar.gz', '../x.tar.gz', 'none.tar.gz', '', 'folder'])
    expect(await fixture.backup.backups.download(file)).toBeUndefined();
});
