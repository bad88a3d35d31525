import type { Identity } from '@taskmesh/identity';
import type { RestoreParameters as Given } from '@taskmesh/internal-api';
import { createLog } from '@taskmesh/service';
import { createRecordingLog } from '@taskmesh/service/testing';
import { atEnd, createTemplate, createTestDatabase, makeTempDir } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { migrations } from '../../migrations/index.ts';
import { createBackupDatabase } from '../../src/database.ts';
import type { Manifest } from '../../src/archives/manifest.ts';
import type { StoreName } from '../../src/databases/store.ts';
import { createBackup, readBackupConfig, type BackupConfig, type BackupDeps } from '../../src/index.ts';
import { tar } from '../archives/tar-bytes.ts';
import { AUTH_SCHEMA, createOwners, TASKS_SCHEMA } from './store-owners.ts';
import type { RestoreResult } from '../../src/restore/restore-result.ts';

export type BackupFixture = Awaited<ReturnType<typeof createBackupFixture>>;

export type Other = BackupFixture['backup'];

/** How another service differs from the fixture's. */
export interface FixtureOverrides
  extends Partial<Omit<BackupConfig, 'secrets'>>, Partial<Pick<BackupDeps, 'owners' | 'measureDisk' | 'timeouts'>> {
  secrets?: Partial<BackupConfig['secrets']>;
}

interface Settings {
  keys?: string[];
  keepOldMs?: number;
  authServer?: string | undefined;
  timeouts?: BackupDeps['timeouts'];
}

type RestoreParameters = Pick<Given, 'stores' | 'safetyBackup'>;
export type Restored = Omit<RestoreResult, 'dropped' | 'keptUntil'>;

/** Starts a service with two stores, for the tests of a file. */
export async function createBackupFixture(
  name: string,
  { keepOldMs = 0, authServer, timeouts = {}, ...settings }: Settings = {},
) {
  const template = await createTemplate('test_backup', migrations, (url) =>
    createBackupDatabase({ url, log: createLog({ service: 'backup', level: 'silent' }) }),
  );
  const [own, tasks, auth] = await Promise.all([
    createTestDatabase(`${name}_own`, undefined, template),
    createTestDatabase(`${name}_tasks`),
    createTestDatabase(`${name}_auth`, authServer),
  ]);
  await tasks.query(TASKS_SCHEMA);
  await auth.query(AUTH_SCHEMA);
  // Only the settings that an operator must set.
  const urls = { POSTGRES_URL: own.url, TASKS_ADMIN_URL: tasks.url, AUTH_ADMIN_URL: auth.url };
  const usual = readBackupConfig({ ...urls, DATA_DIR: makeTempDir() });
  const config = { ...usual, keepOldMs, secrets: { ...usual.secrets, ...settings } };
  await mkdir(config.backupsDir);
  const owners = createOwners({ tasks: tasks.url, auth: auth.url });

  /** Starts a service on the stores. */
  const startOther = async ({ secrets, measureDisk, ...difference }: FixtureOverrides = {}) => {
    const { log, lines: logged } = createRecordingLog('debug');
    const metrics = new Registry();
    const { owners: theirs = owners, timeouts: limits = timeouts, ...more } = difference;
    const deps = { clock: { now: () => Date.now() }, owners: theirs, timeouts: limits, measureDisk, log, metrics };
    const service = await createBackup({ ...config, ...more, secrets: { ...config.secrets, ...secrets } }, deps);
    await service.start();
    /** Sends a request, by default as an operator. */
    const request = async (query: string, variables: Record<string, unknown> = {}, identity: Identity = OPERATOR) => {
      const { data, errors } = await service.subgraph.execute({ query, variables }, { identity, requestId: 'r' });
      const error = errors?.[0] && { code: errors[0].extensions?.code, message: errors[0].message };
      return { data: data ?? {}, error };
    };
    const restore = async (file: string, parameters: RestoreParameters = {}) => {
      const { data, error } = await request(RESTORE, { file, ...parameters });
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return data.restoreBackup as Restored;
    };
    return { ...service, logged, metrics, request, restore };
  };
  const backup = await startOther();
  const { logged, metrics, request, restore } = backup;
  atEnd(backup.stop);

  return {
    backup,
    config,
    owners,
    /** Backup's own database and the two stores. */
    own,
    tasks,
    auth,
    logged,
    metrics,
    request,
    restore,
    archive: (file: string, files: Record<string, string>) =>
      writeFile(
        join(config.backupsDir, file),
        gzipSync(tar(Object.entries(files).map(([path, content]) => ({ name: path, content })))),
      ),
    startOther,
    /** Runs `work` with another service, then stops that service. */
    async withOther<Result>(difference: FixtureOverrides, work: (other: typeof backup) => Promise<Result>) {
      const other = await startOther(difference);
      try {
        return await work(other);
      } finally {
        await other.stop();
      }
    },
    /** Restores the initial state, with new tables in the stores. */
    async reset(): Promise<void> {
      await own.query('truncate backups, restores, verifications, schedule, failing_runs');
      await tasks.query(`drop schema public cascade; create schema public; ${TASKS_SCHEMA}`);
      await auth.query(`drop schema public cascade; create schema public; ${AUTH_SCHEMA}`);
      for (const file of await readdir(config.backupsDir)) await rm(join(config.backupsDir, file), { recursive: true });
      logged.length = 0;
    },
    /** Replaces the content of the live stores with one task and one account. */
    async fillStores(title: string, email: string): Promise<void> {
      await tasks.query(`truncate tasks; insert into tasks values (gen_random_uuid(), '${title}')`);
      await auth.query(`truncate accounts cascade; insert into accounts values (1, '${email}')`);
    },
    /** Returns the titles of the tasks, then the addresses of the accounts. */
    async inStores(): Promise<unknown[]> {
      const titles = await tasks.query('select title as what from tasks');
      const emails = await auth.query('select email as what from accounts');
      return [...titles, ...emails].map(({ what }) => what);
    },
    /** Returns the databases and roles of restores that still exist, and temporary directories. */
    async leftovers(): Promise<string[]> {
      const stems = [tasks, auth].map(({ name: store }) => `${store}_%`);
      const made = `select datname as name from pg_database where datname like any($1) union select rolname from pg_roles where rolname like any($1)`;
      const names = (await own.query(made, [stems])).map(({ name: left }) => String(left));
      return [...names, ...(await readdir(config.temporaryDir).catch(() => []))];
    },
  };
}

const OPERATOR: Identity = { role: 'operator' };
const RESTORE = `mutation ($file: String!, $stores: [String!], $safetyBackup: Boolean) {
  restoreBackup(file: $file, stores: $stores, safetyBackup: $safetyBackup) {
    success message error databaseRestored outcome skipped { kind count } safetyBackup
  }
}`;

/** Returns the value of a metric of backup. */
export async function figureOf(
  { metrics }: { metrics: Registry },
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const { values = [] } = (await metrics.getSingleMetric(`taskmesh_backup_${name}`)?.get()) ?? {};
  return values.find(({ labels: own }) => Object.entries(labels).every(([label, value]) => own[label] === value))
    ?.value;
}

const insertsInto = (table: string, rows: string[]) =>
  rows.map((row) => `insert into ${table} values (${row});\n`).join('');
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

// Dumps written by hand:
export const tasksDump = (titles: string[]) =>
  `create table tasks (id uuid, title text);\n${insertsInto('tasks', titles.map((title, n) => `'${idOf(n)}', '${title}'`))}`; // prettier-ignore
export const accountsDump = (emails: string[]) =>
  `create table accounts (id int, email text);\n${insertsInto('accounts', emails.map((email, n) => `${n + 1}, '${email}'`))}`; // prettier-ignore

type Dumps = Record<StoreName, string>;

/** Returns the files of an archive like those that the service makes. `change` falsifies its manifest. */
export function ownArchive(dumps: Dumps, change: (manifest: Manifest) => unknown = () => undefined) {
  const tablesIn = (text: string) => [...text.matchAll(/create table (\w+)/g)].map(([, table = '']) => table);
  const rowsIn = (text: string) =>
    Object.fromEntries(tablesIn(text).map((table) => [table, text.split(`insert into ${table} values`).length - 1]));
  const entry = (file: string, text: string) => ({
    file,
    sha256: createHash('sha256').update(text).digest('hex'),
    sizeBytes: Buffer.byteLength(text),
    rows: rowsIn(text),
    serverVersion: '18.4',
    schemaVersion: null,
  });
  const stores = { tasks: entry('database.sql', dumps.tasks), auth: entry('auth.sql', dumps.auth) };
  const manifest = { format: 2, product: '0.1.0', createdAt: '2026-01-01T00:00:00.000Z', stores } as Manifest;
  change(manifest);
  return { 'manifest.json': JSON.stringify(manifest), 'database.sql': dumps.tasks, 'auth.sql': dumps.auth };
}

/** Returns the files of an archive of both stores, with one row of that name in each. */
export const bothStores = (name: string) => ownArchive({ tasks: tasksDump([name]), auth: accountsDump([`${name}@x`]) });
