import { rename } from 'node:fs/promises';
import { createBackup } from '../src/index.ts';
import { createBackupFixture, createRecordingLog, type BackupFixture } from './support/backup-fixture.ts';

let fixture: BackupFixture;
beforeEach(async () => {
  fixture = await createBackupFixture('status');
});
afterEach(() => fixture.close());

describe('what backup reports to operators', () => {
  it('is which archives there are, and which of them a restore has proved', async () => {
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
  });

  it('is when the next one is due, what is kept, and since when that has failed', async () => {
    const deps = { clock: { now: () => Date.parse('2026-11-20T10:00:00.000Z') }, log: createRecordingLog().log };
    const settings = { schedule: '30 3 * * *', verifySchedule: '0 5 * * 0', keep: { last: 3, daily: 7 } };
    const other = await createBackup({ ...fixture.config, ...settings }, deps);
    await fixture.own.query(`insert into failing_runs values ('backup', '2026-11-19T03:30:00Z', null)`);
    expect(await other.operators.status()).toMatchObject({
      store: { isUp: true, missing: [], unknown: [] },
      backups: {
        place: 'directory',
        isEncrypted: false,
        schedule: {
          pattern: '30 3 * * *',
          nextAt: '2026-11-21T03:30:00.000Z',
          failingSince: '2026-11-19T03:30:00.000Z',
        },
        verifySchedule: { pattern: '0 5 * * 0', nextAt: '2026-11-22T05:00:00.000Z', failingSince: null },
        verifiesScheduled: true,
        keep: { last: 3, daily: 7 },
      },
    });
    await other.stop();
  });

  it('says nothing of what can be taken back while it cannot know', async () => {
    const current = async () => (await fixture.backup.operators.status()).backups;
    expect(await current()).toHaveProperty('undoable', null);
    await fixture.own.query('alter table restores rename to restores_away');
    expect(await current()).not.toHaveProperty('undoable');
    await fixture.own.query('alter table restores_away rename to restores');
  });

  it('is that the place of the archives does not answer, when it does not', async () => {
    const { backupsDir } = fixture.config;
    await rename(backupsDir, `${backupsDir}-away`);
    const { store, backups } = await fixture.backup.operators.status();
    expect([store.isUp, backups.archives]).toEqual([true, null]);
    await rename(`${backupsDir}-away`, backupsDir);
  });
});
