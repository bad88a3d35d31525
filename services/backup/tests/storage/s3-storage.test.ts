import type { BackupStorage } from '../../src/storage/backup-storage.ts';
import { createS3Storage } from '../../src/storage/s3-storage.ts';
import { parseS3Url } from '../../src/storage/s3-location.ts';
import { createBackupFixture, restoreWith, type BackupFixture } from '../support/backup-fixture.ts';
import { Readable } from 'node:stream';
import { startS3Server, type S3Server } from './s3-server.ts';
import { describeBackupStorage } from './storage.contract.ts';

let server: S3Server;
let storage: BackupStorage;
beforeAll(async () => {
  server = await startS3Server();
  storage = storageAt(server.url('some/place'));
});
afterAll(async () => {
  await storage.close();
  await server.close();
});

function locationOf(url: string) {
  const location = parseS3Url(url);
  if (!location) throw new Error(url);
  return location;
}
const storageAt = (url: string) => createS3Storage({ location: locationOf(url), now: () => Date.now() });

describeBackupStorage('a bucket', () => storage);

describe('archives in a bucket', () => {
  let fixture: BackupFixture;
  beforeAll(async () => {
    fixture = await createBackupFixture('bucket');
    await fixture.tasks.query(
      `insert into tasks select gen_random_uuid(), 'task ' || n from generate_series(1, 200) n`,
    );
    await fixture.auth.query(`insert into accounts values (1, 'a@example.com')`);
  });
  afterAll(() => fixture.close());

  it('are made, listed, proved, restored and deleted as those in a directory are', async () => {
    const before = await fixture.tasks.query('select * from tasks order by id');
    await fixture.withOther({ s3: locationOf(server.url('product')) }, async ({ backups, ...backup }) => {
      const made = await backups.create();
      expect(await backups.verify(made.file)).toMatchObject({ stores: ['tasks', 'auth'], sha256: made.sha256 });
      expect(await backups.list()).toEqual([expect.objectContaining({ file: made.file, sizeBytes: made.sizeBytes })]);
      await fixture.tasks.query('delete from tasks');
      expect(await restoreWith({ backups, ...backup }, made.file)).toMatchObject({ databaseRestored: true });
      expect(await fixture.tasks.query('select * from tasks order by id')).toEqual(before);
      expect(await restoreWith({ backups, ...backup }, '../x')).toMatchObject({ outcome: 'FILE_OUTSIDE' });
      expect(await restoreWith({ backups, ...backup }, 'none.tar.gz')).toMatchObject({ outcome: 'FILE_NOT_FOUND' });
      expect(await backups.remove(made.file)).toBe(true);
      expect(await backups.list()).toEqual([]);
    });
    expect(await fixture.leftovers()).toEqual([]);
  }, 120_000);

  it('are in one place of the bucket only', async () => {
    const one = storageAt(server.url('one'));
    const all = storageAt(server.url());
    await one.write('mine.tar.gz', Readable.from([Buffer.from('x')]));
    expect(await all.list()).toEqual([]);
    expect(await storageAt(server.url('on')).list()).toEqual([]);
    expect(await one.remove('mine.tar.gz')).toBe(true);
  });

  it('wait for a bucket that is away: everything says so, and nothing is left', async () => {
    const { file } = await fixture.withOther({ s3: locationOf(server.url('away')) }, ({ backups }) => backups.create());
    await server.stop();
    try {
      await fixture.withOther({ s3: locationOf(server.url('away')) }, async ({ backups, ...backup }) => {
        const away = { code: 'SERVICE_UNAVAILABLE', message: 'The bucket of the archives was not available.' };
        await expect(backups.create()).rejects.toMatchObject(away);
        await expect(backups.list()).rejects.toMatchObject(away);
        await expect(backups.verify(file)).rejects.toMatchObject(away);
        await expect(backups.remove(file)).rejects.toMatchObject(away);
        await expect(backups.upload('a.tar.gz', Readable.from([Buffer.from([0x1f, 0x8b])]))).rejects.toMatchObject(
          away,
        );
        expect(await restoreWith({ backups, ...backup }, file)).toMatchObject({
          outcome: 'FAILED',
          error: away.message,
        });
      });
    } finally {
      await server.start();
    }
    expect(await fixture.leftovers()).toEqual([]);
    await fixture.withOther({ s3: locationOf(server.url('away')) }, async ({ backups }) => {
      expect((await backups.list()).map((backup) => backup.file)).toEqual([file]);
    });
  }, 120_000);

  it('say when the bucket does not let us in, or is not there', async () => {
    await expect(storageAt(server.url('', 'nobody:S3RVER')).list()).rejects.toThrow('does not let us in');
    const other = locationOf(server.url());
    const nowhere = createS3Storage({ location: { ...other, bucket: 'nowhere' }, now: () => Date.now() });
    await expect(nowhere.list()).rejects.toThrow('The bucket of the archives is not there.');
    await expect(nowhere.write('a.tar.gz', Readable.from([Buffer.from('x')]))).rejects.toThrow('is not there');
  });
});
