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
import { createBackup, readBackupConfig, type Backup, type BackupConfig, type BackupDeps } from '../../src/index.ts';
import { tar } from '../archives/tar-bytes.ts';
import { AUTH_SCHEMA, createOwners, TASKS_SCHEMA } from './store-owners.ts';
import type { RestoreResult } from '../../src/restore/restore-result.ts';

export type BackupFixture = Awaited<ReturnType<typeof createBackupFixture>>;

export interface Other extends Backup {
  logged: Record<string, unknown>[];
  metrics: Registry;
}

/** How another service differs from the fixture's. */
export interface FixtureOverrides
  extends Partial<Omit<BackupConfig, 'secrets'>>, Partial<Pick<BackupDeps, 'owners' | 'measureDisk' | 'timeouts'>> {
  secrets?: Partial<BackupConfig['secrets']>;
  now?: () => number;
}

export interface GraphqlResult {
  data: Record<string, unknown>;
  /** The first error. */
  error?: { code: unknown; message: string };
}

export type RestoreParameters = Pick<Given, 'stores' | 'safetyBackup'>;
export type Restored = Omit<RestoreResult, 'dropped' | 'keptUntil'>;

/** Starts a service with two stores, for the tests of a file. */
export async function createBackupFixture(
  name: string,
  {
    keepOldMs = 0,
    authServer,
    timeouts = {},
    ...settings
  }: {
    keys?: string[];
    keepOldMs?: number;
    authServer?: string | undefined;
    timeouts?: BackupDeps['timeouts'];
  } = {},
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
  const dir = makeTempDir();
  // Only the settings that an operator must set.
  const usual = readBackupConfig({
    ...{ POSTGRES_URL: own.url, TASKS_ADMIN_URL: tasks.url, AUTH_ADMIN_URL: auth.url },
    DATA_DIR: dir,
  });
  const config = { ...usual, keepOldMs, secrets: { ...usual.secrets, ...settings } };
  await mkdir(config.backupsDir);
  const { log, lines: logged } = createRecordingLog('debug');
  const owners = createOwners({ tasks: tasks.url, auth: auth.url });
  const metrics = new Registry();
  const backup = await createBackup(config, { clock: { now: () => Date.now() }, owners, log, metrics, timeouts });
  await backup.start();
  atEnd(backup.stop);

  /** Starts another service on the same stores. */
  const startOther = async (difference: FixtureOverrides = {}): Promise<Other> => {
    const { secrets, now = Date.now, measureDisk, ...more } = difference;
    const { owners: theirs = owners, timeouts: ofOther = timeouts, ...settings } = more;
    const { log, lines } = createRecordingLog('debug');
    const metrics = new Registry();
    const deps = {
      clock: { now },
      owners: theirs,
      timeouts: ofOther,
      log,
      metrics,
      ...(measureDisk && { measureDisk }),
    };
    const other = await createBackup({ ...config, ...settings, secrets: { ...config.secrets, ...secrets } }, deps);
    await other.start();
    return { ...other, logged: lines, metrics };
  };

  return {
    backup,
    config,
    owners,
    /** Backup's own database and the two stores. */
    own,
    tasks,
    auth,
    /** The log records so far. */
    logged,
    metrics,
    archive: (file: string, files: Record<string, string>) =>
      writeFile(
        join(config.backupsDir, file),
        gzipSync(tar(Object.entries(files).map(([path, content]) => ({ name: path, content })))),
      ),
    /** Sends a request to the fixture's service as an operator. */
    request: (query: string, variables?: Record<string, unknown>) => request(backup, query, variables),
    restore: (file: string, parameters?: RestoreParameters) => restoreWith(backup, file, parameters),
    startOther,
    /** Runs `work` with another service, then stops that service. */
    async withOther<Result>(difference: FixtureOverrides, work: (other: Other) => Promise<Result>): Promise<Result> {
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

/** Returns the value of a metric of backup. */
export async function figureOf(
  { metrics }: Pick<Other, 'metrics'>,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const { values = [] } = (await metrics.getSingleMetric(`taskmesh_backup_${name}`)?.get()) ?? {};
  return values.find(({ labels: own }) => Object.entries(labels).every(([label, value]) => own[label] === value))
    ?.value;
}

export async function request(
  { subgraph }: Pick<Backup, 'subgraph'>,
  query: string,
  variables: Record<string, unknown> = {},
  identity: Identity = { role: 'operator' },
): Promise<GraphqlResult> {
  const { data, errors } = await subgraph.execute({ query, variables }, { identity, requestId: 'r' });
  const [error] = errors ?? [];
  return { data: data ?? {}, ...(error && { error: { code: error.extensions?.code, message: error.message } }) };
}

export async function restoreWith(
  backup: Pick<Backup, 'subgraph'>,
  file: string,
  parameters: RestoreParameters = {},
): Promise<Restored> {
  const query = `mutation ($file: String!, $stores: [String!], $safetyBackup: Boolean) {
    restoreBackup(file: $file, stores: $stores, safetyBackup: $safetyBackup) {
      success message error databaseRestored outcome skipped { kind count } safetyBackup
    }
  }`;
  const { data, error } = await request(backup, query, { file, ...parameters });
  if (error) throw Object.assign(new Error(error.message), { code: error.code });
  return data.restoreBackup as Restored;
}

const insertsInto = (table: string, rows: string[]) =>
  rows.map((row) => `insert into ${table} values (${row});\n`).join('');
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

// Dumps written by hand:
export const tasksDump = (titles: string[]) =>
  `create table tasks (id uuid, title text);\n${insertsInto('tasks', titles.map((title, n) => `'${idOf(n)}', '${title}'`))}`; // prettier-ignore
export const accountsDump = (emails: string[]) =>
  `create table accounts (id int, email text);\n${insertsInto('accounts', emails.map((email, n) => `${n + 1}, '${email}'`))}`; // prettier-ignore

/** Returns the files of an archive like those that the service makes. */
export function ownArchive(dumps: { tasks: string; auth: string }): Record<string, string> {
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
  const manifest = { format: 2, product: '0.1.0', createdAt: '2026-01-01T00:00:00.000Z', stores };
  return { 'manifest.json': JSON.stringify(manifest), 'database.sql': dumps.tasks, 'auth.sql': dumps.auth };
}

/** Returns the files of an archive of both stores, with one row of that name in each. */
export const bothStores = (name: string) => ownArchive({ tasks: tasksDump([name]), auth: accountsDump([`${name}@x`]) });
