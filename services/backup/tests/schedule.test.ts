import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackup, type BackupConfig } from '../src/index.ts';
import { createBackupFixture, createRecordingLog, type BackupFixture } from './support/backup-fixture.ts';

const EVERY_SECOND = '* * * * * *';
/** 29 February comes, but not while a test runs. */
const RARELY = '0 0 29 2 *';

let fixture: BackupFixture;
beforeEach(async () => {
  fixture = await createBackupFixture('schedule');
});
afterEach(() => fixture.close());

type Other = Awaited<ReturnType<typeof start>>;

/** Another instance on the same stores, with a schedule. */
async function start(settings: Partial<BackupConfig>) {
  const { log, logged } = createRecordingLog();
  const metrics = new Registry();
  const config = { ...fixture.config, verifiesScheduled: false, ...settings };
  const backup = await createBackup(config, { clock: { now: () => Date.now() }, owners: fixture.owners, log, metrics });
  await backup.start();
  const figure = async (name: string, labels: Record<string, string> = {}) =>
    (await metrics.getSingleMetric(`taskmesh_backup_${name}`)?.get())?.values.find(({ labels: own }) =>
      Object.entries(labels).every(([label, value]) => own[label] === value),
    )?.value;
  return { ...backup, logged, figure };
}

async function during<Result>(others: Promise<Other>[], work: (others: Other[]) => Promise<Result>): Promise<Result> {
  const running = await Promise.all(others);
  try {
    return await work(running);
  } finally {
    await Promise.all(running.map((other) => other.stop()));
  }
}

const listed = () => fixture.backup.backups.list();
const files = () => readdir(fixture.config.backupsDir);
const patience = { timeoutMs: 60_000 };

describe('a schedule', () => {
  it('makes archives by itself, proves them, and says so', async () => {
    await during([start({ schedule: EVERY_SECOND, verifiesScheduled: true })], async ([one]) => {
      await eventually(
        async () => expect((await listed()).filter(({ verifiedAt }) => verifiedAt)).not.toEqual([]),
        patience,
      );
      expect(one?.logged).toContainEqual(expect.objectContaining({ msg: 'scheduled backup made', verified: true }));
      expect(await one?.figure('runs_total', { origin: 'schedule', outcome: 'ok' })).toBeGreaterThan(0);
      expect(await one?.figure('last_success_timestamp_seconds')).toBeCloseTo(Date.now() / 1000, -2);
      expect(await one?.figure('last_duration_seconds')).toBeGreaterThan(0);
      expect(await one?.figure('last_size_bytes')).toBeGreaterThan(0);
      expect(await one?.figure('schedule_failures_total')).toBe(0);
    });
    for (const { origin } of await listed()) expect(origin).toBe('schedule');
  }, 120_000);

  it('is kept by one of several instances', async () => {
    const three = [1, 2, 3].map(() => start({ schedule: EVERY_SECOND }));
    const moments = await during(three, async (others) => {
      await eventually(async () => expect((await files()).length).toBeGreaterThan(3), patience);
      return () => others.flatMap(({ logged }) => logged.filter(({ msg }) => msg === 'scheduled backup made'));
    });
    const made = moments().map(({ moment }) => moment);
    expect(made.length).toBeGreaterThan(3);
    expect(new Set(made).size).toBe(made.length);
  }, 120_000);

  it('makes up for a moment that passed while nobody ran, once', async () => {
    await during([start({ schedule: RARELY })], async () => undefined);
    expect(await files()).toEqual([]); // it never was its turn
    await fixture.own.query(`insert into schedule values ('backup', '2001-01-01T00:00:00Z')`);
    await during([start({ schedule: RARELY }), start({ schedule: RARELY })], async () => {
      await eventually(async () => expect(await files()).toHaveLength(1), patience);
    });
    await during([start({ schedule: RARELY })], async () => undefined);
    expect(await files()).toHaveLength(1);
  }, 120_000);

  it('goes on after a failure, which is logged and counted', async () => {
    await fixture.auth.query('create view odd as select 1');
    await during([start({ schedule: EVERY_SECOND })], async ([one]) => {
      await eventually(async () => expect(await one?.figure('schedule_failures_total')).toBeGreaterThan(0), patience);
      expect(one?.logged).toContainEqual(expect.objectContaining({ msg: 'scheduled backup failed', level: 'error' }));
      expect(await one?.figure('runs_total', { origin: 'schedule', outcome: 'failed' })).toBeGreaterThan(0);
      expect(await files()).toEqual([]);
      await fixture.auth.query('drop view odd');
      await eventually(async () => expect(await files()).not.toEqual([]), patience);
    });
  }, 120_000);
});

describe('retention', () => {
  /** Archives as the catalogue has them after some days. */
  const put = async (file: string, createdAt: string, origin: string, verified = false) => {
    await fixture.archive(file, { 'notes.txt': file });
    const sizeBytes = (await listed()).find((backup) => backup.file === file)?.sizeBytes;
    await fixture.own.query(
      `insert into backups (file, size_bytes, created_at, stores, origin, verified_at) values ($1, $2, $3, '{}', $4, $5)`,
      [file, sizeBytes, createdAt, origin, verified ? createdAt : null],
    );
  };
  const old = (names: string[]) => names.filter((file) => !file.startsWith('taskmesh-')).toSorted();

  it('deletes what the schedule made and no rule keeps; never the newest verified one, nor what others made', async () => {
    await put('asked.tar.gz', '2026-01-01T00:00:00Z', 'request');
    await put('sent.tar.gz', '2026-01-01T00:00:00Z', 'upload');
    await fixture.archive('unknown.tar.gz', { 'notes.txt': 'x' });
    await put('verified-1.tar.gz', '2026-01-02T00:00:00Z', 'schedule', true);
    await put('verified-2.tar.gz', '2026-01-03T00:00:00Z', 'schedule', true);
    await put('night-4.tar.gz', '2026-01-04T00:00:00Z', 'schedule');
    await put('night-5.tar.gz', '2026-01-05T00:00:00Z', 'schedule');
    await during([start({ schedule: EVERY_SECOND, keep: { last: 1 } })], async () => {
      await eventually(
        async () =>
          expect(old(await files())).toEqual(['asked.tar.gz', 'sent.tar.gz', 'unknown.tar.gz', 'verified-2.tar.gz']),
        patience,
      );
    });
  }, 120_000);

  it('waits while new archives fail', async () => {
    await put('night-1.tar.gz', '2026-01-01T00:00:00Z', 'schedule');
    await put('night-2.tar.gz', '2026-01-02T00:00:00Z', 'schedule');
    await fixture.auth.query('create view odd as select 1');
    await during([start({ schedule: EVERY_SECOND, keep: { last: 1 } })], async ([one]) => {
      await eventually(async () => expect(await one?.figure('schedule_failures_total')).toBeGreaterThan(1), patience);
    });
    expect(await files()).toHaveLength(2);
  }, 120_000);
});

describe('the figures', () => {
  it('know the newest archive from the start', async () => {
    const { createdAt, sizeBytes } = await fixture.backup.backups.create();
    await during([start({})], async ([one]) => {
      expect(await one?.figure('last_success_timestamp_seconds')).toBe(createdAt.getTime() / 1000);
      expect(await one?.figure('last_size_bytes')).toBe(sizeBytes);
    });
  });

  it('count verifications and restores by their end', async () => {
    const { file } = await fixture.backup.backups.create();
    await during([start({})], async ([one]) => {
      await one?.backups.verify(file);
      await fixture.archive('bad.tar.gz', { 'notes.txt': 'x' });
      await expect(one?.backups.verify('bad.tar.gz')).rejects.toMatchObject({ code: 'CONFLICT' });
      const query = 'mutation { restoreBackup(file: "none.tar.gz") { outcome } }';
      await one?.subgraph.execute({ query }, { identity: { role: 'operator' }, requestId: 'r' });
      expect(await one?.figure('verifications_total', { outcome: 'ok' })).toBe(1);
      expect(await one?.figure('verifications_total', { outcome: 'unfit' })).toBe(1);
      expect(await one?.figure('restores_total', { outcome: 'not-found' })).toBe(1);
      expect(await one?.figure('last_verified_timestamp_seconds')).toBeGreaterThan(0);
    });
  }, 120_000);

  it('do not keep the service from starting while the place of the archives is none', async () => {
    const backupsDir = join(fixture.config.backupsDir, 'a-file');
    await writeFile(backupsDir, '');
    await during([start({ backupsDir })], async ([one]) => {
      expect(await one?.ready()).toMatchObject({ ok: true });
      expect(one?.logged).toContainEqual(
        expect.objectContaining({ msg: 'the place of the archives is not available' }),
      );
    });
  });
});
