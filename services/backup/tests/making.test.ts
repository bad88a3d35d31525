import { eventually } from '@taskmesh/testing';
import { readdir } from 'node:fs/promises';
import { Client } from 'pg';
import { archiveLimits, DEFAULT_SIZES } from '../src/archives/limits.ts';
import { createTemporaryDirs } from '../src/temporary-files.ts';
import { asBackupFailure, failureReason } from '../src/archives/archive.errors.ts';
import { makeArchive, type ArchiveMaking } from '../src/archives/make-archive.ts';
import type { dumpDatabase } from '@taskmesh/pg-rows';
import { lookAtDisk, type LookAtDisk } from '../src/disk-space.ts';
import { createDirectoryStorage } from '../src/storage/directory-storage.ts';
import type { StoreName } from '../src/databases/store.ts';
import { createBackupFixture, createRecordingLog, type BackupFixture } from './support/backup-fixture.ts';

const MIB = 1024 * 1024;

let fixture: BackupFixture;
beforeAll(async () => {
  fixture = await createBackupFixture('making');
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.reset();
  await fixture.tasks.query(
    `insert into tasks select gen_random_uuid(), 'task ' || n || md5(n::text) from generate_series(1, 40000) n`,
  );
});
afterEach(async () => {
  expect(await fixture.leftovers()).toEqual([]);
});

const files = () => readdir(fixture.config.backupsDir);

describe('a backup that does not get on', () => {
  const makeWith = async (dump: typeof dumpDatabase) => {
    const { log } = createRecordingLog();
    const { backupsDir, temporaryDir, secrets } = fixture.config;
    const now = () => Date.now();
    const look: LookAtDisk = async () => ({ id: 1, usableBytes: Infinity });
    const store = (name: StoreName) => ({ name, adminUrl: secrets.adminUrls[name], owner: fixture.owners[name] });
    const making: ArchiveMaking = {
      storage: createDirectoryStorage({ dir: backupsDir, now, look }),
      temporaryDirs: createTemporaryDirs({ dir: temporaryDir, now, log }),
      stores: { tasks: store('tasks'), auth: store('auth') },
      now: () => new Date(),
      nextId: () => 'stalled',
      archiveLimits: archiveLimits(DEFAULT_SIZES),
      ...{ cipher: undefined, dump, product: '0.1.0', look, stallMs: 1_000, log },
    };
    const error: unknown = await makeArchive(making, 0).catch((failure: unknown) => failure);
    return [asBackupFailure(error), failureReason(error)];
  };
  const ENDED = [
    expect.objectContaining({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The backup was not made: a store did not get on for too long.',
    }),
    'store',
  ];

  it('because a store’s server does not answer is ended as well', async () => {
    expect(
      await makeWith(({ client }) => client.query('select pg_sleep(600)').then(() => Promise.reject(new Error()))),
    ).toEqual(ENDED);
    expect(await files()).toEqual([]);
  });
});

describe('a backup that no restore would accept', () => {
  it.each([
    ['unpacked', { maxExpandedBytes: MIB }],
    ['packed', { maxArchiveBytes: MIB }],
  ])('is not made when it is too large %s', async (when, sizes) => {
    await fixture.withOther(sizes, async ({ backups, metrics }) => {
      await expect(backups.create()).rejects.toMatchObject({
        code: 'CONFLICT',
        message: `The backup was not made: it is larger than BACKUP_MAX_ARCHIVE_MB allows a restore to be (1 MiB ${when}).`,
      });
      expect(await metrics.metrics()).toContain('taskmesh_backup_failures_total{reason="too_large"} 1');
    });
    expect(await files()).toEqual([]);
  });

  it('counts the stores together while they are dumped, and compresses nothing', async () => {
    let dumpBytes = 0;
    await fixture.backup.backups.create(({ phase, totalBytes = 0 }) => {
      if (phase === 'compress') dumpBytes = totalBytes;
    });
    const phases: string[] = [];
    await fixture.withOther({ maxExpandedBytes: dumpBytes - 1 }, async ({ backups }) => {
      const creating = backups.create(({ phase }) => phases.push(phase));
      await expect(creating).rejects.toMatchObject({ code: 'CONFLICT' });
    });
    expect([...new Set(phases)]).toEqual(['dump']);
  });

  it('does not blame an archive for a limit: it is proved once the limit is raised', async () => {
    const { file } = await fixture.backup.backups.create();
    await fixture.own.query('delete from backups');
    await fixture.withOther({ maxExpandedBytes: MIB }, async ({ backups }) => {
      expect(await backups.list()).toMatchObject([{ file, unfitAt: null }]);
      await expect(backups.verify(file)).rejects.toMatchObject({
        code: 'CONFLICT',
        message: 'The archive cannot be proved here: The archive expands to more than 1048576 bytes.',
      });
      expect(await backups.list()).toMatchObject([{ file, unfitAt: null }]);
    });
    expect(await fixture.backup.backups.list()).toMatchObject([{ file, stores: ['tasks', 'auth'] }]);
  });
});

describe('on a disk with little room', () => {
  const TOO_LITTLE = { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('the disk has too little room') };

  it('a backup is not even begun, which is said and counted by its reason', async () => {
    const look: LookAtDisk = () => Promise.resolve({ id: 1, usableBytes: 2 * MIB });
    await fixture.withOther({ look }, async ({ backups, metrics }) => {
      await expect(backups.create()).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringMatching(
          /^The backup was not made: the disk has too little room \(about \d+ MiB are needed, 2 MiB may be used\)\.$/,
        ),
      });
      expect(await metrics.metrics()).toContain('taskmesh_backup_failures_total{reason="disk_full"} 1');
    });
    expect(await files()).toEqual([]);
  });

  it('rows that no archive has need none', async () => {
    await fixture.tasks.query(
      `create table if not exists changes (task text);
       insert into changes (task) select md5(n::text) || md5(n::text) from generate_series(1, 200000) n`,
    );
    const [{ bytes }] = (await fixture.tasks.query(`select pg_table_size('tasks')::int as bytes`)) as [
      { bytes: number },
    ];
    const look: LookAtDisk = async () => ({ id: 1, usableBytes: bytes + 8 * MIB });
    await fixture.withOther({ look }, ({ backups }) => backups.create());
  });

  it('the dumps and the archive are counted together where they share it', async () => {
    const { sizeBytes } = await fixture.backup.backups.create();
    const [{ bytes }] = (await fixture.tasks.query(`select pg_table_size('tasks')::int as bytes`)) as [{ bytes: number }];
    const before = await files();
    for (const shared of [true, false]) {
      const look: LookAtDisk = async (dir) => ({
        id: shared || dir === fixture.config.backupsDir ? 1 : 2,
        usableBytes: bytes + Number(sizeBytes) + 9 * MIB * (shared ? 0 : 1),
      });
      await fixture.withOther({ look }, async ({ backups }) => {
        if (shared) await expect(backups.create()).rejects.toMatchObject(TOO_LITTLE);
        else await backups.create();
      });
    }
    expect(await files()).toHaveLength(before.length + 1);
  }); // prettier-ignore

  it.each([
    ['the dump', 'backup-scratch'],
    ['the archive', 'backups'],
  ])('that others fill meanwhile %s ends before the reserve does, and nothing of it stays', async (_what, place) => {
    let begun = false;
    const look: LookAtDisk = async (dir) => {
      const full = begun && dir.includes(place);
      begun ||= dir.includes('backups'); // the last look before anything is written
      return full ? { id: 1, usableBytes: 1 } : lookAtDisk(dir);
    };
    await fixture.withOther({ look }, async ({ backups }) => {
      await expect(backups.create()).rejects.toMatchObject(TOO_LITTLE);
      expect(begun).toBe(true);
    });
    expect(await files()).toEqual([]);
  });

  it('keeps a part of it free', async () => {
    const { usableBytes } = await lookAtDisk(fixture.config.backupsDir);
    const { statfs } = await import('node:fs/promises');
    const { bavail, bsize } = await statfs(fixture.config.backupsDir);
    expect(usableBytes).toBeLessThan(bavail * bsize);
  });
});

describe('archives', () => {
  it('are made one at a time, by whichever instance: who comes meanwhile hears of it', async () => {
    const holder = new Client({ connectionString: fixture.tasks.url });
    await holder.connect();
    await holder.query('begin; lock table tasks in access exclusive mode'); // the first one lasts
    const first = fixture.backup.backups.create();
    await eventually(async () => expect(await readdir(fixture.config.temporaryDir)).toHaveLength(1));
    const busy = { code: 'SERVICE_UNAVAILABLE', message: 'Another backup is being made; try again later.' };
    await fixture.withOther({}, async (other) => {
      const refused = [other.backups.create(), fixture.backup.backups.create()];
      for (const one of refused) await expect(one).rejects.toMatchObject(busy);
    });
    await holder.end();
    const [one, two] = [await first, await fixture.backup.backups.create()];
    expect(await files()).toEqual(expect.arrayContaining([one.file, two.file]));
  }, 180_000);
});
