import { generateX25519Identity } from 'age-encryption';
import { eventually } from '@taskmesh/testing';
import { gzipSync } from 'node:zlib';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backup } from '../src/archives/archive.entity.ts';
import type { Manifest } from '../src/archives/manifest.ts';
import { scanArchives, type ScanDeps } from '../src/archives/new-archives.ts';
import type { WorkProgress } from '@taskmesh/internal-api';
import { tar } from './archives/tar-bytes.ts';
import {
  accountsDump,
  createBackupFixture,
  createRecordingLog,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

const KEY = await generateX25519Identity();

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('scan');
});
afterAll(() => fixture.close());

describe('a scan', () => {
  it('brings back what a lost catalogue knew, from the archives', async () => {
    const { backups } = fixture.backup;
    const made = [await backups.create(), await backups.create()];
    const secret = await fixture.withOther({ secrets: { keys: [KEY] } }, (other) => other.backups.create());
    await backups.verify(made[1]?.file ?? '');
    await fixture.archive('foreign.tar.gz', { 'database.sql': tasksDump(['one']) });
    await writeFile(join(fixture.config.backupsDir, 'broken.tar.gz'), 'no archive');
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
  const put = (file: string, content: Buffer | string) => writeFile(join(fixture.config.backupsDir, file), content);
  const own = ownArchive({ tasks: tasksDump(['one']), auth: accountsDump(['a@x']) });
  const entriesByFile = async () => {
    const { data } = await fixture.backup.subgraph.execute(
      { query: '{ backups { file stores unfitAt unfitReason verifiedAt } }' },
      { identity: { role: 'operator' }, requestId: 'r' },
    );
    const backups = data?.backups as Record<string, unknown>[];
    return new Map(backups.map(({ file, ...entry }) => [file, entry]));
  };

  it('shows what was put there and is not fit for a restore as such, with the reason', async () => {
    const whole = gzipSync(tar(Object.entries(own).map(([name, content]) => ({ name, content }))));
    const archives: [string, Buffer, RegExp | null][] = [
      ['no-archive.tar.gz', Buffer.from('no archive'), /no intact gzip file/],
      ['empty.tar.gz', Buffer.alloc(0), /empty|too early/],
      ['cut.tar.gz', whole.subarray(0, whole.length - 20), /ends too early/],
      ['no-tar.tar.gz', gzipSync('only text'), /tar file/],
      ['no-age.tar.gz.age', Buffer.from('no age file'), null], // it cannot be examined here
      ['whole.tar.gz', whole, null],
    ];
    for (const [file, content] of archives) await put(file, content);
    await fixture.archive('no-dump.tar.gz', { 'notes.txt': 'hello' });
    await fixture.archive('no-manifest.tar.gz', { ...own, 'manifest.json': '{"format": 3}' });
    await fixture.archive('other-dump.tar.gz', { ...own, 'auth.sql': 'select 1;' });
    await fixture.archive('by-hand.tar.gz', { 'database.sql': tasksDump(['one']) });
    const unfit = (reason: RegExp) => ({ verifiedAt: null, unfitAt: expect.any(String), unfitReason: expect.stringMatching(reason) }); // prettier-ignore
    const fit = { verifiedAt: null, unfitAt: null, unfitReason: null };
    await eventually(async () => {
      const entries = await entriesByFile();
      for (const [file, , reason] of archives)
        expect([file, entries.get(file)]).toMatchObject([file, reason ? unfit(reason) : fit]);
      expect(entries.get('no-dump.tar.gz')).toMatchObject(unfit(/no database.sql/));
      expect(entries.get('no-manifest.tar.gz')).toMatchObject(unfit(/manifest is none of ours/));
      expect(entries.get('other-dump.tar.gz')).toMatchObject(unfit(/auth.sql is not what the manifest says/));
      expect(entries.get('by-hand.tar.gz')).toMatchObject({ ...fit, stores: [] });
      expect(entries.get('whole.tar.gz')).toMatchObject({ ...fit, stores: ['tasks', 'auth'] });
    });
  }, 180_000);

  it('looks again when another file takes the place', async () => {
    await put('later.tar.gz', 'half of it');
    await eventually(async () =>
      expect((await entriesByFile()).get('later.tar.gz')?.unfitAt).toEqual(expect.any(String)),
    );
    await fixture.archive('later.tar.gz', own);
    await eventually(async () =>
      expect((await entriesByFile()).get('later.tar.gz')).toMatchObject({ unfitAt: null, stores: ['tasks', 'auth'] }),
    );
  }, 180_000);

  it('looks again when the whole archive takes the place of a damaged copy of the same size', async () => {
    const whole = gzipSync(tar(Object.entries(own).map(([name, content]) => ({ name, content }))));
    const damaged = Buffer.from(whole);
    damaged[whole.length >> 1] = ~(damaged[whole.length >> 1] ?? 0);
    await put('copied.tar.gz', damaged);
    await eventually(async () =>
      expect((await entriesByFile()).get('copied.tar.gz')?.unfitAt).toEqual(expect.any(String)),
    );
    await put('copied.tar.gz', whole);
    await eventually(async () =>
      expect((await entriesByFile()).get('copied.tar.gz')).toMatchObject({ unfitAt: null, stores: ['tasks', 'auth'] }),
    );
    expect(await fixture.backup.backups.scan()).toMatchObject({ added: 0 });
  }, 180_000);

  it('shows what a verification found of an unknown archive', async () => {
    await put('unknown.tar.gz', 'no archive');
    const verified = fixture.backup.backups.verify('unknown.tar.gz');
    await expect(verified).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await entriesByFile()).get('unknown.tar.gz')).toMatchObject({
      unfitAt: expect.any(String),
      unfitReason: expect.stringContaining('no intact gzip file'),
    });
  }, 180_000);
});

describe('a scan that reads an archive while somebody else catalogues it', () => {
  const manifest = JSON.parse(
    ownArchive({ tasks: tasksDump(['one']), auth: accountsDump([]) })['manifest.json'] ?? '',
  ) as Manifest;
  const stale: Backup = { file: 'a.tar.gz', sizeBytes: 1, sha256: null, createdAt: new Date(0), origin: 'unknown', stores: [], modifiedAt: null, verifiedAt: null, unfitAt: null, unfitReason: null, verifiedVersion: null }; // prettier-ignore

  it.each([
    [
      'keeps what that one says',
      { ...stale, origin: 'schedule', stores: ['tasks', 'auth'], verifiedAt: new Date(1) },
      0,
    ],
    ['keeps who brought it', { ...stale, origin: 'upload', sha256: 'abc' }, 1],
    ['does not bring back what was deleted', undefined, 0],
  ] as const)('%s', async (_what, now, added) => {
    let known: Partial<Backup> | undefined = stale;
    const deps = {
      repository: { takeIn: async (backup: Backup) => void (known = backup) },
      list: async () => [stale],
      find: async () => known,
      async lookInto() {
        known = now && { ...now, stores: [...now.stores] };
        return { manifest };
      },
      now: () => new Date(0),
      log: createRecordingLog().log,
    };
    expect(await scanArchives(deps as ScanDeps, () => undefined)).toMatchObject({ archives: 1, added });
    expect(known).toEqual(now && { ...now, stores: ['tasks', 'auth'] });
  });
});

it.each([
  ['is unfit, whose time a bucket reports in other ways', 5_123, 5_000, true],
  ['was replaced meanwhile', 5_123, 6_000, false],
])(
  'a scan that reads a broken archive blames it if it is there still: it %s',
  async (_what, before, after, isBlamed) => {
    const blamed: Backup[] = [];
    const at = (time: number) => ({ file: 'a.tar.gz', sizeBytes: 1, stores: [], createdAt: new Date(time), modifiedAt: new Date(time) }) as unknown as Backup; // prettier-ignore
    const deps = {
      repository: { takeIn: async (backup: Backup) => void blamed.push(backup) },
      list: async () => [at(before)],
      find: async () => at(after),
      lookInto: async () => ({ unfit: 'it is broken.' }),
      now: () => new Date(0),
      log: createRecordingLog().log,
    };
    expect(await scanArchives(deps as ScanDeps, () => undefined)).toMatchObject({ unread: 1 });
    expect(blamed.map(({ unfitReason }) => unfitReason)).toEqual(isBlamed ? ['it is broken.'] : []);
  },
);
