import type { Identity } from '@taskmesh/identity';
import { createAuth, readAuthConfig, type Auth } from '@taskmesh/auth';
import { createBackup, readBackupConfig, type BackupDeps, type StoreOwner } from '@taskmesh/backup';
import { accountsInternal, authRestore, callInProcess, tasksRestore } from '@taskmesh/internal-api';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createTasks, readTasksConfig, type Tasks } from '@taskmesh/tasks';
import { atEnd, createTestDatabase, makeTempDir, type TestDatabase } from '@taskmesh/testing';

export interface Databases {
  auth: TestDatabase;
  tasks: TestDatabase;
}

const PASSWORD = 'correct horse battery';

/** What users do. */
function usersOf(services: { auth: Auth; tasks: Tasks }) {
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

/** Runs an installation of its own, with empty stores, until the end of the test or file: a backup service, and the owners of the stores. */
export async function runStores(name: string) {
  const dir = makeTempDir();
  const databases = {
    auth: await createTestDatabase(`${name}_auth`),
    tasks: await createTestDatabase(`${name}_tasks`),
  };
  const shared = { clock, log: logOf(name) };
  const keyValue = createMemoryKeyValue();
  const eventLog = createMemoryEventLog();
  atEnd(() => Promise.all([keyValue.close(), eventLog.close()]));
  const environmentOf = ({ url }: TestDatabase) => ({ DATA_DIR: dir, NODE_ENV: 'test', POSTGRES_URL: url });
  const auth = await createAuth(readAuthConfig(environmentOf(databases.auth)), { ...shared, keyValue });
  const accounts = callInProcess(accountsInternal, auth.accounts);
  const tasks = await createTasks(readTasksConfig(environmentOf(databases.tasks)), { ...shared, eventLog, accounts });
  for (const service of [auth, tasks]) {
    await service.start();
    atEnd(service.stop);
  }
  const backup = await runBackup(name, databases, {
    auth: callInProcess(authRestore, auth.restore),
    tasks: callInProcess(tasksRestore, tasks.restore),
  });

  return { ...databases, ...backup, services: { auth, tasks }, users: usersOf({ auth, tasks }) };
}

const isNotConnected = () => Promise.reject(new Error('not connected'));
const noOwner: StoreOwner = { importDatabase: isNotConnected, compare: isNotConnected, resume: isNotConnected };

/** Runs a backup service until the end of the test or file. Without `owners`, it can back up the stores, but not restore them. */
export async function runBackup(
  name: string,
  { auth, tasks }: Databases,
  owners: Partial<BackupDeps['owners']> = {},
  timeouts: BackupDeps['timeouts'] = {},
) {
  const [dir, backupsDir] = [makeTempDir(), makeTempDir()];
  const own = await createTestDatabase(`${name}_backup`);
  const config = readBackupConfig({
    ...{ DATA_DIR: dir, NODE_ENV: 'test', POSTGRES_URL: own.url, BACKUPS_DIR: backupsDir },
    ...{ AUTH_ADMIN_URL: auth.url, TASKS_ADMIN_URL: tasks.url },
  });
  const all = { tasks: noOwner, auth: noOwner, ...owners };
  const backup = await createBackup(config, { clock, log: logOf(name), owners: all, timeouts });
  await backup.start();
  atEnd(backup.stop);
  return { backup, work: backup.work, backupsDir, own };
}
