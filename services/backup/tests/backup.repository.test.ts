import type { Database } from '@taskmesh/store';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import type { Backup } from '../src/archives/archive.entity.ts';
import { createBackupRepository, type BackupRepository } from '../src/archives/archive.repository.ts';
import { createBackupDatabase } from '../src/database.ts';

let store: TestDatabase;
let database: Database;
let repository: BackupRepository;
beforeAll(async () => {
  store = await createTestDatabase('backup_repository');
  database = await createBackupDatabase({ url: store.url, log: createLog({ service: 'test', level: 'silent' }) });
  await database.migrate();
  repository = createBackupRepository(database);
});
afterAll(async () => {
  await database.close();
  await store.drop();
});

const UNKNOWN_FILE: Omit<Backup, 'file'> = {
  ...{ sizeBytes: 10, sha256: null, createdAt: new Date(1_000), stores: [], origin: 'unknown', modifiedAt: new Date(1_000) },
  ...{ verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null },
}; // prettier-ignore
const UNFIT = { unfitAt: new Date(2_000), unfitReason: 'it holds nothing' };

describe('what a look into an archive has found', () => {
  it('is noted of an unknown one, and of one that was not examined', async () => {
    const found: Backup = { file: 'found', ...UNKNOWN_FILE, ...UNFIT };
    await repository.takeIn(found);
    expect(await repository.find('found')).toMatchObject(found);
    const sent: Backup = { ...UNKNOWN_FILE, file: 'sent', origin: 'upload' };
    await repository.save(sent);
    await repository.takeIn({ ...sent, stores: ['tasks'] });
    expect(await repository.find('sent')).toMatchObject({ origin: 'upload', stores: ['tasks'] });
  });

  it('never stands in the place of what its maker has said meanwhile', async () => {
    const made: Backup = { ...UNKNOWN_FILE, file: 'made', origin: 'schedule', stores: ['tasks'], sha256: 'abc' };
    await repository.save(made);
    await repository.takeIn({ ...UNKNOWN_FILE, file: 'made', stores: ['tasks'] });
    await repository.takeIn({ ...UNKNOWN_FILE, file: 'made', ...UNFIT });
    expect(await repository.find('made')).toMatchObject(made);
  });

  it('is noted of another file that took the place of one that was known', async () => {
    const before: Backup = { ...UNKNOWN_FILE, file: 'other', origin: 'schedule', stores: ['tasks'], verifiedAt: new Date(1_500) }; // prettier-ignore
    await repository.save(before);
    const now: Backup = { ...UNKNOWN_FILE, file: 'other', sizeBytes: 11, stores: ['auth'] };
    await repository.takeIn(now);
    expect(await repository.find('other')).toMatchObject(now);
    await repository.takeIn({ ...now, ...UNFIT, modifiedAt: new Date(3_000) });
    expect(await repository.find('other')).toMatchObject(UNFIT);
    await repository.takeIn({ ...now, modifiedAt: new Date(4_000) });
    expect(await repository.find('other')).toMatchObject({ stores: ['auth'], unfitAt: null });
  });
});
