import { createRecordingLog } from '@taskmesh/service/testing';
import type { Identity } from '@taskmesh/identity';
import type { WorkProgress } from '@taskmesh/internal-api';
import { eventually } from '@taskmesh/testing';
import { generateX25519Identity } from 'age-encryption';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createBackup } from '../src/index.ts';
import { tar } from './archives/tar-bytes.ts';
import { request, bothStores, createBackupFixture, tasksDump } from './support/backup-fixture.ts';

const KEY = await generateX25519Identity();

const fixture = await createBackupFixture('listing');
beforeEach(() => fixture.reset());

const put = (file: string, content: Buffer | string) => writeFile(join(fixture.config.backupsDir, file), content);

describe('backups', () => {
  const list = async () =>
    (await fixture.request('{ backups { file sizeBytes sha256 createdAt stores verifiedAt } }')).data.backups;
  const putAt = async (file: string, content: string, time: string) => {
    await put(file, content);
    await utimes(join(fixture.config.backupsDir, file), new Date(time), new Date(time));
  };

  it('are for operators only', async () => {
    const queries = ['backups { file }', 'backup(file: "x") { file }', 'undoableRestore { file }'];
    const mutations = ['createBackup { file }', 'verifyBackup(file: "x") { file }', 'scanBackups { added }', 'deleteBackup(file: "x")', 'restoreBackup(file: "x") { success }', 'dryRunRestore(file: "x") { possible }', 'undoRestore { success }', 'newEpoch { epoch }']; // prettier-ignore
    const user = { role: 'user', userId: 'u', sessionId: 's' } as const;
    for (const query of [...queries.map((each) => `{ ${each} }`), ...mutations.map((each) => `mutation { ${each} }`)]) {
      const codeFor = async (identity: Identity) => (await request(fixture.backup, query, {}, identity)).error?.code;
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

describe('a scan', () => {
  it('rebuilds a lost catalogue from the archives', async () => {
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
});

describe('the list', () => {
  const own = bothStores('one');
  const whole = gzipSync(tar(Object.entries(own).map(([name, content]) => ({ name, content }))));
  const entriesByFile = async () => {
    const { data } = await fixture.request('{ backups { file stores unfitAt unfitReason verifiedAt } }');
    const backups = data.backups as Record<string, unknown>[];
    return new Map(backups.map(({ file, ...entry }) => [file, entry]));
  };

  it('shows copied archives that are unfit for a restore, with the reason', async () => {
    const archives: [
      file: string,
      content: Buffer | Record<string, string>,
      reason: RegExp | null,
      stores?: string[],
    ][] = [
      ['no-archive.tar.gz', Buffer.from('no archive'), /no intact gzip file/],
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
  ])('examines the archive again after the complete one replaces %s', async (_what, before) => {
    const entry = async () => (await entriesByFile()).get('copied.tar.gz');
    await put('copied.tar.gz', before);
    await eventually(async () => expect(await entry()).toMatchObject({ unfitAt: expect.any(String) }));
    await put('copied.tar.gz', whole);
    await eventually(async () => expect(await entry()).toMatchObject({ unfitAt: null, stores: ['tasks', 'auth'] }));
    expect(await fixture.backup.backups.scan()).toMatchObject({ added: 0 });
  });
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
