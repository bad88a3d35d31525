import type { Identity } from '@taskmesh/identity';
import { createAuth, readAuthConfig, type Auth } from '@taskmesh/auth';
import { createBackup, readBackupConfig, type Backup, type BackupDeps, type StoreOwner } from '@taskmesh/backup';
import { accountsInternal, authRestore, callInProcess, tasksRestore, type BackupWork } from '@taskmesh/internal-api';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createTasks, readTasksConfig, type Tasks } from '@taskmesh/tasks';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Databases {
  auth: TestDatabase;
  tasks: TestDatabase;
}

export interface RunningBackup {
  work: BackupWork;
  backup: Backup;
  backupsDir: string;
  /** The URL of the database of backup itself. */
  ownUrl: string;
  stop(): Promise<void>;
}

/** A backup service, and the stores that it backs up with the services that own them. */
export type RunningStores = Databases & RunningBackup & { services: Services; users: ReturnType<typeof usersOf> };

interface Services {
  auth: Auth;
  tasks: Tasks;
}

const PASSWORD = 'correct horse battery';

/** What users do. */
function usersOf(services: Services) {
  const ask = async (service: 'auth' | 'tasks', identity: Identity, query: string, variables: object) => {
    const result = await services[service].subgraph.execute(
      { query, variables: { ...variables } },
      { identity, requestId: 'test' },
    );
    if (result.errors) throw new Error(JSON.stringify(result.errors));
    return result;
  };
  const createTask = async (owner: Identity, title: string): Promise<string> => {
    const query = 'mutation ($title: String!) { createTask(input: { title: $title }) { id } }';
    return ((await ask('tasks', owner, query, { title })).data?.createTask as { id: string }).id;
  };
  return {
    createTask,
    async signUp(email: string, titles: string[] = []) {
      const query = 'mutation ($input: SignUpInput!) { signUp(input: $input) { refreshToken user { id } } }';
      const input = { email, password: PASSWORD, name: 'Somebody' };
      const { extensions } = await ask('auth', { role: 'anonymous' }, query, { input });
      const identity = { role: 'user', ...(extensions?.session as { userId: string; sessionId: string }) } as const;
      for (const title of titles) await createTask(identity, title);
      return identity;
    },
    changeTask: (owner: Identity, id: string, input: object) =>
      ask('tasks', owner, 'mutation ($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) { version } }', { id, input }), // prettier-ignore
    deleteTask: (owner: Identity, id: string) =>
      ask('tasks', owner, 'mutation ($id: ID!) { deleteTask(id: $id) }', { id }),
    async deleteAccount(account: Identity) {
      const query = 'mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) }';
      await ask('auth', account, query, { input: { password: PASSWORD } });
    },
  };
}

/** Soon after the times in the stores' rows, so that retention removes none of them. */
const BEGIN = Date.parse('2026-01-15T00:00Z');
const clock = { now: () => BEGIN + performance.now() };
const logOf = (service: string) => createLog({ service, level: 'silent' });

/** Creates an installation of its own, with empty stores. */
export async function runStores(name: string): Promise<RunningStores> {
  const dir = await mkdtemp(join(tmpdir(), `taskmesh-${name}-`));
  const databases = {
    auth: await createTestDatabase(`${name}_auth`),
    tasks: await createTestDatabase(`${name}_tasks`),
  };
  const shared = { clock, log: logOf(name) };
  const keyValue = createMemoryKeyValue();
  const eventLog = createMemoryEventLog();
  const environmentOf = ({ url }: TestDatabase) => ({ DATA_DIR: dir, NODE_ENV: 'test', POSTGRES_URL: url });
  const auth = await createAuth(readAuthConfig(environmentOf(databases.auth)), { ...shared, keyValue });
  const accounts = callInProcess(accountsInternal, auth.accounts);
  const tasks = await createTasks(readTasksConfig(environmentOf(databases.tasks)), { ...shared, eventLog, accounts });
  for (const service of [auth, tasks]) await service.start();
  const backup = await runBackup(name, databases, {
    auth: callInProcess(authRestore, auth.restore),
    tasks: callInProcess(tasksRestore, tasks.restore),
  });

  return {
    ...databases,
    ...backup,
    services: { auth, tasks },
    users: usersOf({ auth, tasks }),
    async stop() {
      await backup.stop();
      for (const service of [auth, tasks]) await service.stop();
      await keyValue.close();
      await eventLog.close();
      await Promise.all(Object.values(databases).map((database) => database.drop()));
      await rm(dir, { recursive: true });
    },
  };
}

const isNotConnected = () => Promise.reject(new Error('not connected'));
const noOwner: StoreOwner = { importDatabase: isNotConnected, compare: isNotConnected, resume: isNotConnected };

/** Runs a backup service. Without `owners`, it can back up the stores, but not restore them. */
export async function runBackup(
  name: string,
  { auth, tasks }: Databases,
  owners: Partial<BackupDeps['owners']> = {},
  timeouts: BackupDeps['timeouts'] = {},
): Promise<RunningBackup> {
  const dir = await mkdtemp(join(tmpdir(), `taskmesh-${name}-`));
  const backupsDir = join(dir, 'backups');
  await mkdir(backupsDir);
  const own = await createTestDatabase(`${name}_backup`);
  const config = readBackupConfig({
    ...{ DATA_DIR: dir, NODE_ENV: 'test', POSTGRES_URL: own.url, BACKUPS_DIR: backupsDir },
    ...{ AUTH_ADMIN_URL: auth.url, TASKS_ADMIN_URL: tasks.url },
  });
  const all = { tasks: noOwner, auth: noOwner, ...owners };
  const backup = await createBackup(config, { clock, log: logOf(name), owners: all, timeouts });
  await backup.start();
  return {
    backup,
    work: backup.work,
    backupsDir,
    ownUrl: own.url,
    async stop() {
      await backup.stop();
      await own.drop();
      await rm(dir, { recursive: true });
    },
  };
}
