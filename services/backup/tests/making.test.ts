import { connectClient, eventually, makeTempDir, whileLocked } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { statDisk, type MeasureDisk } from '../src/disk-space.ts';
import { createBackupFixture } from './support/backup-fixture.ts';
import { startBackupProcess } from './support/backup-process.ts';

const MIB = 1024 * 1024;
const CREATE = 'mutation { createBackup { file sizeBytes sha256 createdAt stores verifiedAt } }';

const fixture = await createBackupFixture('making');
beforeEach(() => fixture.reset());
afterEach(async () => expect(await fixture.leftovers()).toEqual([]));

type Made = Record<'file' | 'sha256' | 'createdAt', string> & { sizeBytes: number };

const create = async () => (await fixture.request(CREATE)).data.createBackup as Made;
const list = async () =>
  (await fixture.request('{ backups { file sizeBytes sha256 createdAt stores verifiedAt } }')).data.backups as Made[];
const files = () => readdir(fixture.config.backupsDir);
const seed = async (n: number) => {
  const rows = `select gen_random_uuid(), 'task ' || n || ' ' || md5(n::text) from generate_series(1, ${n}) n`;
  await fixture.tasks.query(`insert into tasks ${rows}`);
  await fixture.auth.query(`insert into accounts values (1, 'a@x'), (2, 'b@x')`);
  await fixture.auth.query('insert into sessions (account) values (1), (2)');
};
/** Reads a file of an archive with the system's own tar. @default the dump of the tasks store */
const readIn = (file: string, name = 'database.sql') =>
  String(execFileSync('tar', ['-xzOf', join(fixture.config.backupsDir, file), name], { maxBuffer: 64 * MIB }));

describe('making a backup', () => {
  it('makes an archive that is listed with all its data until it is deleted', async () => {
    await seed(10);
    const made = await create();
    const path = join(fixture.config.backupsDir, made.file);
    const bytes = await readFile(path);
    expect(made).toMatchObject({ sizeBytes: bytes.length, stores: ['tasks', 'auth'], verifiedAt: null });
    expect(made.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(made.file).toMatch(/^taskmesh-\d{8}T\d{6}Z-[0-9a-f]{12}\.tar\.gz$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect([await list(), await files()]).toEqual([[made], [made.file]]);
    const remove = async () =>
      (await fixture.request('mutation ($file: String!) { deleteBackup(file: $file) }', { file: made.file })).data;
    expect(await remove()).toEqual({ deleteBackup: true });
    expect([await list(), await files(), await fixture.own.query('select from backups')]).toEqual([[], [], []]);
    expect(await remove()).toEqual({ deleteBackup: false });
  });

  it('keeps the rows of a store that is emptied while another one is dumped', async () => {
    await seed(40_000);
    let emptied: Promise<unknown> | undefined;
    const { file } = await fixture.backup.backups.create(() => {
      emptied ??= fixture.auth.query('truncate accounts cascade');
    });
    await emptied;
    const { stores } = JSON.parse(readIn(file, 'manifest.json')) as { stores: { auth: { rows: object } } };
    expect(stores.auth.rows).toMatchObject({ accounts: 2 });
  });

  it('is refused if a table was filled again after the snapshot, which would contain none of its rows', async () => {
    await seed(10);
    const refill = `create table kept as table tasks; truncate tasks; insert into tasks table kept; drop table kept`;
    const lock = { query: '^lock table' };
    const { error } = await whileLocked(fixture.tasks, [refill], () => fixture.request(CREATE), lock);
    const message = 'The backup was not made: a store is being changed right now.';
    expect([error, await files()]).toEqual([{ code: 'SERVICE_UNAVAILABLE', message }, []]);
  });

  it('reports an unavailable store or directory, or objects that a dump cannot contain, and leaves nothing behind', async () => {
    const away = `${fixture.config.backupsDir}-away`;
    await rename(fixture.config.backupsDir, away);
    const { error } = await fixture.request(CREATE).finally(() => rename(away, fixture.config.backupsDir));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('it does not exist') });

    const adminUrls = { ...fixture.config.secrets.adminUrls, auth: 'postgres://stranger@127.0.0.1:1/none' };
    const failure = { code: 'SERVICE_UNAVAILABLE', message: 'The backup was not made: a store was not available.' };
    const making = fixture.withOther({ secrets: { adminUrls } }, ({ backups }) => backups.create());
    await expect(making).rejects.toMatchObject(failure);
    await fixture.auth.query('create table living (n int) partition by list (n)');
    const message =
      'The backup was not made: auth: the database contains objects that a dump cannot contain: partitioned table "living".';
    expect((await fixture.request(CREATE)).error).toEqual({ code: 'CONFLICT', message });
    expect(await files()).toEqual([]);
  });

  it('still makes and accepts archives if the catalogue cannot be written', async () => {
    await fixture.own.query('alter table backups rename to hidden');
    const made = await create();
    await fixture.backup.backups.upload('taskmesh-uploaded.tar.gz', Readable.from([gzipSync('content')]));
    await fixture.own.query('alter table hidden rename to backups');
    expect(fixture.logged).toContainEqual(expect.objectContaining({ msg: 'backup not catalogued' }));
    const found = { origin: 'request', sizeBytes: made.sizeBytes, sha256: made.sha256 };
    expect(await fixture.backup.backups.find(made.file)).toMatchObject(found);
    await fixture.withOther({}, ({ backups }) => backups.list()); // records unknown origins
    await fixture.own.query(`update backups set unfit_at = now(), unfit_reason = 'bad' where file = $1`, [made.file]);
    await fixture.backup.backups.tidy();
    const catalogued = [{ file: made.file, stores: ['tasks', 'auth'], origin: 'request', unfit_reason: 'bad' }, expect.objectContaining({ origin: 'upload' })]; // prettier-ignore
    const rows = await fixture.own.query('select file, stores, origin, unfit_reason from backups order by origin');
    expect(rows).toEqual(catalogued);
    await fixture.own.query('truncate backups');
    await fixture.backup.backups.tidy();
    expect(await fixture.own.query('select file from backups')).toEqual([]); // saved once
  });
});

it('a service reports for every operation that a file cannot grow, and leaves everything unchanged', async () => {
  await seed(20_000);
  const { file } = await create();
  await fixture.backup.backups.verify(file);
  const full = await startBackupProcess(fixture.config, { fileBlocks: 512 });
  const ask = async (query: string) => JSON.stringify(await full.ask(query, { file }));
  expect(await ask(CREATE)).toContain('The backup was not made: it is larger than a file may be.');
  const verified = await ask('mutation ($file: String!) { verifyBackup(file: $file) { file } }');
  expect(verified).toContain('The archive was not verified: it is larger than a file may be.');
  expect(verified).toContain('SERVICE_UNAVAILABLE');
  const restored = await ask('mutation ($file: String!) { restoreBackup(file: $file) { outcome error } }');
  expect(restored).toContain('EXTRACTION_FAILED');
  await full.stop();
  expect(await files()).toEqual([file]);
  expect((await fixture.backup.backups.find(file))?.verifiedAt).toBeInstanceOf(Date);
  expect(await fixture.tasks.query('select count(*)::int as n from tasks')).toEqual([{ n: 20_000 }]);
}, 120_000);

it('a backup is ended if the server of a store does not respond', async () => {
  await connectClient(fixture.tasks.url, 'begin; lock table tasks in access exclusive mode');
  await fixture.withOther({ timeouts: { stallMs: 1_000 } }, async ({ backups, metrics }) => {
    const message = 'The backup was not made: a store made no progress for too long.';
    await expect(backups.create()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message });
    expect(await metrics.metrics()).toContain('taskmesh_backup_failures_total{reason="store"} 1');
  });
  expect(await files()).toEqual([]);
});

describe('a backup that no restore would accept', () => {
  beforeEach(() => seed(40_000));

  it.each(['packed', 'unpacked'])('is not made if it is too large %s', async (how) => {
    let dumpBytes = 0;
    const { sizeBytes } = await fixture.backup.backups.create(({ phase, totalBytes = 0 }) => {
      if (phase === 'compress') dumpBytes = totalBytes; // the sizes of both dumps are added up
    });
    const before = await files();
    const limits = how === 'packed' ? { maxArchiveBytes: sizeBytes / 2 } : { maxExpandedBytes: dumpBytes - 1 };
    const phases = new Set<string>();
    await fixture.withOther(limits, async ({ backups, metrics }) => {
      const reason = new RegExp(
        `^The backup was not made: it is larger than BACKUP_MAX_ARCHIVE_MB allows .* MiB ${how}\\)\\.$`,
      );
      const failure = { code: 'CONFLICT', message: expect.stringMatching(reason) };
      await expect(backups.create(({ phase }) => void phases.add(phase))).rejects.toMatchObject(failure);
      expect(await metrics.metrics()).toContain('taskmesh_backup_failures_total{reason="too_large"} 1');
    });
    expect(phases.has('compress')).toBe(how === 'packed');
    expect(await files()).toEqual(before);
  });

  it('does not make an archive unfit: it can be verified once the limit is raised', async () => {
    const { file } = await fixture.backup.backups.create();
    await fixture.own.query('delete from backups');
    await fixture.withOther({ maxExpandedBytes: MIB }, async ({ backups }) => {
      const message = 'The archive cannot be verified here: The archive expands to more than 1048576 bytes.';
      await expect(backups.verify(file)).rejects.toMatchObject({ code: 'CONFLICT', message });
      expect(await backups.list()).toMatchObject([{ file, unfitAt: null }]);
    });
    expect(await fixture.backup.backups.list()).toMatchObject([{ file, stores: ['tasks', 'auth'] }]);
  });
});

describe('on a disk with little room', () => {
  beforeEach(() => seed(40_000));

  const TOO_LITTLE = { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('the disk has too little room') };

  it('a backup is not even begun, which is reported and counted by reason; a part of the disk is kept free', async () => {
    const { bavail, bsize } = await statfs(fixture.config.backupsDir);
    expect((await statDisk(fixture.config.backupsDir)).usableBytes).toBeLessThan(bavail * bsize);
    const measureDisk: MeasureDisk = () => Promise.resolve({ id: 1, usableBytes: 2 * MIB });
    await fixture.withOther({ measureDisk }, async ({ backups, metrics }) => {
      const reason =
        /^The backup was not made: the disk has too little room \(about \d+ MiB are needed, 2 MiB may be used\)\.$/;
      const message = expect.stringMatching(reason);
      await expect(backups.create()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message });
      expect(await metrics.metrics()).toContain('taskmesh_backup_failures_total{reason="disk_full"} 1');
    });
    expect(await files()).toEqual([]);
  });

  it('the dumps and the archive are added up if they share it; rows that are not archived need none', async () => {
    await fixture.tasks.query(
      `create table if not exists changes (task text);
       insert into changes (task) select md5(n::text) || md5(n::text) from generate_series(1, 200000) n`,
    );
    const { sizeBytes } = await fixture.backup.backups.create();
    const [row] = await fixture.tasks.query(`select pg_table_size('tasks')::int as bytes`);
    const before = await files();
    for (const shared of [true, false]) {
      const measureDisk: MeasureDisk = async (dir) => ({
        id: shared || dir === fixture.config.backupsDir ? 1 : 2,
        usableBytes: Number(row?.bytes) + Number(sizeBytes) + (shared ? 0 : 9 * MIB),
      });
      await fixture.withOther({ measureDisk }, async ({ backups }) => {
        if (shared) await expect(backups.create()).rejects.toMatchObject(TOO_LITTLE);
        else await backups.create();
      });
    }
    expect(await files()).toHaveLength(before.length + 1);
  });

  it.each([
    ['the dump', 'backup-scratch'],
    ['the archive', 'backups'],
  ])(
    'that other programs fill during %s ends the backup before its reserve is used, and leaves nothing behind',
    async (_what, place) => {
      let begun = false;
      const measureDisk: MeasureDisk = async (dir) => {
        const full = begun && dir.includes(place);
        begun ||= dir.includes('backups'); // the last check before anything is written
        return full ? { id: 1, usableBytes: 1 } : statDisk(dir);
      };
      await fixture.withOther({ measureDisk }, async ({ backups }) => {
        await expect(backups.create()).rejects.toMatchObject(TOO_LITTLE);
        expect(begun).toBe(true);
        const upload = () => backups.upload('sent.tar.gz', Readable.from([gzipSync('content')]));
        if (place === 'backups') await expect(upload()).rejects.toMatchObject(TOO_LITTLE);
      });
      expect(await files()).toEqual([]);
    },
  );
});

it('a leftover that cannot be removed does not keep the service from starting', async () => {
  const temporaryDir = makeTempDir();
  const leftover = join(temporaryDir, `run-${2 ** 22 + 1}-abc-${hostname()}`);
  const deep = Array.from({ length: 14 }, () => 'x'.repeat(255)).join('/');
  for (const dir of [leftover, join(temporaryDir, 'more')]) await mkdir(join(dir, deep), { recursive: true });
  await rename(join(temporaryDir, 'more'), join(leftover, deep, 'more')); // its path is now longer than the system accepts
  await fixture.withOther({ temporaryDir }, async ({ logged }) =>
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'temporary directories not removed' })),
  );
});

it('archives are made one at a time across all instances, and other requests are refused', async () => {
  const busy = { code: 'SERVICE_UNAVAILABLE', message: 'Another backup is being made; try again later.' };
  // Keeps the first backup running.
  const holder = await connectClient(fixture.tasks.url, 'begin; lock table tasks in access exclusive mode');
  const making = fixture.backup.backups.create();
  await eventually(async () => expect(await readdir(fixture.config.temporaryDir)).toHaveLength(1));
  await fixture.withOther({ timeouts: { busyMs: 300 } }, async ({ backups }) => {
    const refused = await Promise.allSettled([backups.create(), backups.create()]);
    expect(refused).toMatchObject([{ reason: busy }, { reason: busy }]);
  });
  await holder.end();
  const { file } = await making;
  expect(await files()).toEqual([file]);
}, 180_000);
