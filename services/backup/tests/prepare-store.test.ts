import { createRecordingLog } from '@taskmesh/service/testing';
import { inDatabase } from '@taskmesh/store';
import { createTestDatabase, eventually, makeTempDir } from '@taskmesh/testing';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { dropFresh } from '../src/databases/fresh-database.ts';
import { restoreNames } from '../src/databases/names.ts';
import { loadLimits, type LoadLimits } from '../src/restore/watch-database.ts';
import { prepareStore } from '../src/restore/prepare-store.ts';
import { tasksDump } from './support/backup-fixture.ts';
import { createOwners, TASKS_SCHEMA } from './support/store-owners.ts';
import { query, withClient } from './support/databases.ts';

const dir = makeTempDir();
let count = 0;

const live = await createTestDatabase('prepare');
await live.query(TASKS_SCHEMA);

/** Prepares a store whose owner calls `importDatabase` on the loaded database. Returns the outcome and leaves nothing behind. */
async function prepare(
  importDatabase: (url: string) => Promise<unknown>,
  limits: Partial<LoadLimits>,
  { dump = tasksDump(['one']), onLoaded }: { dump?: string; onLoaded?: (database: string) => void } = {},
): Promise<unknown> {
  const names = restoreNames(live.name, `prep${(count += 1)}`);
  const path = join(dir, 'database.sql');
  await writeFile(path, dump);
  const { tasks } = createOwners({ tasks: live.url, auth: live.url });
  const importing = (database: string) =>
    importDatabase(inDatabase(live.url, database)).then(() => tasks.importDatabase(database));
  const owner = { ...tasks, importDatabase: importing };
  try {
    return await prepareStore({
      ...{ store: { name: 'tasks', adminUrl: live.url, owner }, names, path, log: createRecordingLog().log },
      limits: { ...loadLimits(DEFAULT_SIZES), ...limits },
      onProgress: ({ phase }) => phase === 'load' && onLoaded?.(names.fresh),
    }).catch((error: unknown) => error);
  } finally {
    const left = `select 1 from pg_stat_activity where datname = '${names.fresh}' and state = 'active'`;
    await eventually(async () => expect(await live.query(left)).toEqual([]));
    await dropFresh(live.url, names);
  }
}

const run = (text: string) => (url: string) => query(url, text);

const busy = (url: string) =>
  withClient(url, async (client) => {
    for (;;) await client.query('select pg_sleep(0.1)');
  });

it.each<[what: string, importing: (url: string) => Promise<unknown>, limits: Partial<LoadLimits>, error: string]>([
  ['the importing service stops working', run('select pg_sleep(1000)'), { stallMs: 1_000 }, 'There was no progress.'],
  ['the time is up, even while there is progress', busy, { timeoutMs: 1_500 }, 'The time is up.'],
  [
    'the database grows too large',
    run(`create table f as select repeat('x', 1000), generate_series(1, 1000000000)`),
    { databaseBytes: 64 * 1024 * 1024 },
    'The database grew too large.',
  ],
])('preparing a store ends, with its sessions, when %s', async (_what, importing, limits, error) => {
  expect(await prepare(importing, limits)).toEqual(new Error(error));
});

it('preparing a store ends before the import if the load leaves more than tables', async () => {
  const rows = '00000000-0000-7000-8000-000000000000\tx\n'.repeat(500_000);
  let made: Promise<unknown> | undefined;
  const onLoaded = (database: string) =>
    void (made ??= query(inDatabase(live.url, database), `create function f() returns int language sql as 'select 1'`));
  const importDatabase = jest.fn(async () => undefined);
  const dump = `create table tasks (id uuid, title text);\ncopy tasks from stdin;\n${rows}\\.\n`;
  const end = await prepare(importDatabase, {}, { dump, onLoaded });
  await made;
  expect(end).toEqual(new Error('The dump left more than tables: 1 × function.'));
  expect(importDatabase).not.toHaveBeenCalled();
}, 180_000);

it('preparing a store continues as long as there is progress', async () => {
  const slow = (url: string) =>
    withClient(url, async (client) => {
      for (let step = 0; step < 5; step++) await client.query('select pg_sleep(0.7)');
    });
  expect(await prepare(slow, { stallMs: 2_500 })).toMatchObject({ rows: { tasks: 1 }, skipped: [] });
});
