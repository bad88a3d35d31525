import { readdir } from 'node:fs/promises';
import type { Backup } from '../src/index.ts';
import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  tasksDump,
  type BackupFixture,
} from './support/backup-fixture.ts';

let fixture: BackupFixture;

beforeAll(async () => {
  fixture = await createBackupFixture('safety');
  await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: accountsDump(['new@x']) }));
  await fixture.archive('bad.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: 'selec;' }));
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.fillStores('old', 'old@x');
});
afterEach(async () => expect(await fixture.leftovers()).toEqual([]));

async function restore(file: string, safetyBackup?: boolean, backup: Backup = fixture.backup) {
  const query = `mutation ($file: String!, $safetyBackup: Boolean) {
    restoreBackup(file: $file, safetyBackup: $safetyBackup) { outcome message safetyBackup }
  }`;
  const { data } = await backup.subgraph.execute(
    { query, variables: { file, safetyBackup } },
    { identity: { role: 'operator' }, requestId: 'r' },
  );
  return data?.restoreBackup as { outcome: string; message: string; safetyBackup: string | null };
}

const archives = async () => (await readdir(fixture.config.backupsDir)).toSorted();

describe('a safety backup', () => {
  it('holds what was replaced, and is named in the answer, the journal and the list', async () => {
    const { outcome, safetyBackup } = await restore('own.tar.gz', true);
    expect([outcome, safetyBackup]).toEqual(['RESTORED', expect.stringMatching(/^taskmesh-.*\.tar\.gz$/)]);
    expect(await fixture.inStores()).toEqual(['new', 'new@x']);
    expect(
      await fixture.own.query('select safety_backup as file from restores where safety_backup is not null'),
    ).toEqual([{ file: safetyBackup }]);
    expect(await fixture.own.query('select origin from backups where file = $1', [safetyBackup])).toEqual([
      { origin: 'safety' },
    ]);
    expect(await restore(safetyBackup ?? '')).toMatchObject({ outcome: 'RESTORED', safetyBackup: null });
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  });

  it('that cannot be made ends the restore with nothing changed, and says so', async () => {
    await fixture.auth.query('create table parts (id int) partition by range (id)'); // no backup can hold it
    const before = await archives();
    expect(await restore('own.tar.gz', true)).toEqual({
      outcome: 'PROCESSED',
      message: expect.stringContaining('without a safety backup nothing is replaced: '),
      safetyBackup: null,
    });
    await fixture.auth.query('drop table parts');
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
    expect(await archives()).toEqual(before);
  });

  it('that was made for nothing is named as well: the restore failed behind it', async () => {
    const { carryOver } = fixture.owners.auth;
    fixture.owners.auth.carryOver = () => Promise.reject(new Error('no luck'));
    const { outcome, safetyBackup } = await restore('own.tar.gz', true);
    fixture.owners.auth.carryOver = carryOver;
    expect([outcome, await archives()]).toEqual(['PROCESSED', expect.arrayContaining([safetyBackup])]);
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  });

  it('is not made for an archive that is not fit', async () => {
    const before = await archives();
    expect(await restore('bad.tar.gz', true)).toMatchObject({ outcome: 'PROCESSED', safetyBackup: null });
    expect(await archives()).toEqual(before);
  });

  it('is made without a word where nothing else would be left, and not where somebody says so', async () => {
    await fixture.withOther({ usesSafetyBackups: true }, async (other) => {
      expect((await restore('own.tar.gz', undefined, other)).safetyBackup).toMatch(/^taskmesh-/);
      expect(await restore('own.tar.gz', false, other)).toMatchObject({ outcome: 'RESTORED', safetyBackup: null });
    });
    expect(await restore('own.tar.gz')).toMatchObject({ outcome: 'RESTORED', safetyBackup: null });
  });
});
