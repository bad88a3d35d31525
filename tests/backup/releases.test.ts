import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { earlierStores } from './earlier-stores.ts';
import { fill, RELEASES, rowsOf, withoutIds, type ReleasedRows } from './release-archive.ts';
import { runBackup, runStores } from './stores.ts';

const ARCHIVES = readdirSync(RELEASES).filter((file) => file.endsWith('.tar.gz'));
const stores = await runStores('released');
// Restores keep existing audit entries, so each test starts without any, like a new installation.
beforeEach(() =>
  stores.auth.query(`begin; set local taskmesh.audit_housekeeping = 'on'; delete from audit_log; commit`),
);

async function expectBack(file: string, expected: ReleasedRows) {
  expect(await stores.work.restore(file)).toMatchObject({ outcome: 'RESTORED', dropped: [] });
  expect(withoutIds(await rowsOf(stores, expected))).toEqual(withoutIds(expected));
}

it.each(ARCHIVES)(
  '%s of an earlier release verifies, and restores completely into a new installation',
  async (file) => {
    copyFileSync(join(RELEASES, file), join(stores.backupsDir, file));
    expect(await stores.work.verify(file)).toMatchObject({ verifiedAt: expect.any(String) });
    const rows = readFileSync(join(RELEASES, file.replace('.tar.gz', '.json')), 'utf8');
    await expectBack(file, JSON.parse(rows) as ReleasedRows); // written by `makeReleaseArchive`
  },
);

it.each([
  { tasks: '0001-tasks-and-feed', auth: '0001-accounts' },
  { tasks: '0006-dead-letters-by-owner', auth: '0012-recoveries-by-address' },
])('an archive of stores with an earlier schema is migrated with its rows: $tasks, $auth', async (versions) => {
  const earlier = await earlierStores(versions);
  await fill(earlier);
  const isBeforeTimesEnd = versions.tasks < '0003';
  const late = `update tasks set updated_at = '10000-05-05T00:00Z' where title like 'plain%'`;
  if (isBeforeTimesEnd) await earlier.tasks.query(late);
  const { work, backupsDir } = await runBackup('earlier', earlier);
  const { file } = await work.create();
  copyFileSync(join(backupsDir, file), join(stores.backupsDir, file));
  const expected = await rowsOf(earlier);
  const migrated = expected.tasks.map((task) =>
    String(task.updated_at).startsWith('10000') ? { ...task, updated_at: '9999-12-31T23:59:59.999+00:00' } : task,
  );
  expect(migrated.filter((task, index) => task !== expected.tasks[index])).toHaveLength(isBeforeTimesEnd ? 4 : 0);
  await expectBack(file, { ...expected, tasks: migrated });
});
