import { unavailable } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchivedDump } from '../src/archives/manifest.ts';
import { DEFAULT_SIZES } from '../src/archives/limits.ts';
import { loadLimits } from '../src/restore/watch-database.ts';
import type { Restore } from '../src/restore/restore.entities.ts';
import { restoreStores, type StoresRestore } from '../src/restore/restore-stores.ts';
import type { Store, StoreName } from '../src/databases/store.ts';
import { journalOf, NOW } from './support/test-stores.ts';
import { AUTH_SCHEMA, createOwners, TASKS_SCHEMA } from './support/store-owners.ts';

const DUMPS = {
  tasks: `create table tasks (id uuid, title text); insert into tasks values ('00000000-0000-7000-8000-000000000000', 'new'); create view v as select 1;`,
  auth: `create table accounts (id int, email text); insert into accounts values (1, 'new@x'); grant all on accounts to public;`,
};
const SCHEMAS = { tasks: TASKS_SCHEMA, auth: AUTH_SCHEMA };
const NAMES = ['tasks', 'auth'] as const;

let dir: string;
let live: Record<StoreName, TestDatabase>;
let line: Restore;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-stores-'));
  live = { tasks: await createTestDatabase('stores_tasks'), auth: await createTestDatabase('stores_auth') };
  for (const name of NAMES) {
    await live[name].query(SCHEMAS[name]);
    await writeFile(join(dir, name), DUMPS[name]);
  }
});
afterAll(async () => {
  for (const name of NAMES) await live[name].drop();
  await rm(dir, { recursive: true });
});
beforeEach(async () => {
  await live.tasks.query('truncate tasks');
  await live.auth.query('truncate accounts cascade');
});

/** Restores both stores from the dumps; returns what was reported meanwhile, too. */
async function restore(options: Partial<StoresRestore> = {}) {
  const owners = createOwners({ tasks: live.tasks.url, auth: live.auth.url });
  const store = (name: StoreName): Store => ({ name, adminUrl: live[name].url, owner: owners[name] });
  const { importDatabase } = owners.auth;
  const imported: unknown[] = [];
  owners.auth.importDatabase = async (database, archived) => {
    imported.push(archived);
    return { ...(await importDatabase(database)), dropped: ['accounts.nick'] } as Awaited<
      ReturnType<typeof importDatabase>
    >;
  };
  line = {} as Restore;
  const progress: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const write = (text: string) => logged.push(JSON.parse(text) as Record<string, unknown>);
  const stores = { tasks: store('tasks'), auth: store('auth') };
  const archived: ArchivedDump = { schemaVersion: '7', rows: { accounts: 1 }, hasUnnamedTables: false };
  const restored = await restoreStores(
    {
      stores,
      journal: journalOf(line),
      keepOldMs: 0,
      now: () => NOW,
      log: createLog({ service: 'test', level: 'info', destination: { write } }),
      onUnsettled: () => undefined,
    },
    {
      id: 'r',
      file: 'a.tar.gz',
      dumps: [
        { store: stores.tasks, path: join(dir, 'tasks') },
        { store: stores.auth, path: join(dir, 'auth'), archived },
      ],
      allowsLoss: true,
      limits: loadLimits(DEFAULT_SIZES),
      mayGoOn: async () => true,
      onProgress: (step) => progress.push(Object.values(step).join(' ')),
      ...options,
    },
  );
  return { restored, imported, logged, progress: [...new Set(progress)] };
}

const inStores = async () => [
  ...(await live.tasks.query('select title as what from tasks')),
  ...(await live.auth.query('select email as what from accounts')),
].map(({ what }) => what); // prettier-ignore

describe('restoring stores', () => {
  it('prepares them one after the other, makes the safety backup as late as possible, swaps them, and tells all that', async () => {
    const before: unknown[] = [];
    const { restored, imported, logged, progress } = await restore({
      makeSafetyBackup: async () => {
        before.push(...(await inStores()), line.stage, line.safetyBackup);
        return 'safe.tar.gz';
      },
    });
    expect(before).toEqual(['loading', null]);
    expect(restored).toEqual({
      isCleanUpPending: false,
      keptUntil: null,
      skipped: [{ kind: 'view', count: 1 }, { kind: 'grant', count: 1 }],
      dropped: ['auth.accounts.nick'],
    }); // prettier-ignore
    expect(line.safetyBackup).toBe('safe.tar.gz');
    const [tasks, auth] = [DUMPS.tasks.length, DUMPS.auth.length];
    expect(progress).toEqual([
      `load tasks ${tasks} ${tasks}`,
      'check tasks',
      `load auth ${auth} ${auth}`,
      'check auth',
      'swap',
    ]);
    expect(imported).toEqual([{ schemaVersion: '7', allowsLoss: true }]);
    expect(await inStores()).toEqual(['new', 'new@x']);
    expect(line).toMatchObject({
      stage: 'restored',
      file: 'a.tar.gz',
      stores: ['tasks', 'auth'],
      safetyBackup: 'safe.tar.gz',
    });
    expect(logged.map(({ msg, store, rows, safetyBackup }) => [msg, store, rows, safetyBackup])).toEqual(
      expect.arrayContaining([
        ['store prepared', 'tasks', { tasks: 1 }, undefined],
        ['store prepared', 'auth', { accounts: 1 }, undefined],
        ['safety backup made', undefined, undefined, 'safe.tar.gz'],
      ]),
    );
  }, 180_000);

  it.each([
    ['The disk is full.', unavailable('The disk is full.')],
    ['See the log.', new Error('at /secret')],
  ])(
    'replaces nothing without the safety backup that was asked for, and says why: %s',
    async (message, cause) => {
      const restoring = restore({ makeSafetyBackup: () => Promise.reject(cause) });
      await expect(restoring).rejects.toMatchObject({ name: 'SafetyBackupError', message, cause });
      expect(await inStores()).toEqual([]);
      expect(line.stage).toBe('undone');
    },
    60_000,
  );

  it('replaces nothing when a newer release has migrated a live store meanwhile: its services need that schema', async () => {
    const migrate = () =>
      live.tasks.query(
        `create table mikro_orm_migrations (id int, name text); insert into mikro_orm_migrations values (1, 'later')`,
      );
    const restoring = restore({ makeSafetyBackup: () => migrate().then(() => 'safe.tar.gz') });
    await expect(restoring).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The store tasks was migrated meanwhile: try again.',
    });
    expect(await live.tasks.query('select name from mikro_orm_migrations')).toEqual([{ name: 'later' }]);
    expect(line.stage).toBe('undone');
    await live.tasks.query('drop table mikro_orm_migrations');
  }, 60_000);
});
