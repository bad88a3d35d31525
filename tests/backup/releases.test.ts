import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASES, rowsOf, type ReleasedRows } from './release-archive.ts';
import { runStores, type RunningStores } from './stores.ts';

const ARCHIVES = readdirSync(RELEASES).filter((file) => file.endsWith('.tar.gz'));

describe('an archive of an earlier release', () => {
  let stores: RunningStores;
  beforeEach(async () => {
    stores = await runStores('released');
  });
  afterEach(() => stores.stop());

  it.each(ARCHIVES)('%s proves to be fit, and brings all of it back into a new installation', async (file) => {
    copyFileSync(join(RELEASES, file), join(stores.backupsDir, file));
    const rows = readFileSync(join(RELEASES, file.replace('.tar.gz', '.json')), 'utf8');
    const expected = JSON.parse(rows) as ReleasedRows; // as it was written at the release
    expect(await stores.work.verify(file)).toMatchObject({ stores: ['tasks', 'auth'], verifiedAt: expect.any(String) });
    expect(await stores.work.restore(file)).toMatchObject({ outcome: 'RESTORED' });
    const restored = await rowsOf(stores, expected);
    const withoutIds = ({ audit_log, ...others }: ReleasedRows) => ({
      ...others,
      audit_log: audit_log.map(({ id: _id, ...entry }) => entry),
    });
    expect(withoutIds(restored)).toEqual(withoutIds(expected));
  });
});
