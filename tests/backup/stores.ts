import { createAuth, readAuthConfig } from '@taskmesh/auth';
import { createBackup, readBackupConfig, type Backup } from '@taskmesh/backup';
import { authRestore, callInProcess, tasksRestore, type BackupWork } from '@taskmesh/internal-api';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createMemoryEventLog } from '@taskmesh/messaging';
import { createLog } from '@taskmesh/service';
import { createTasks, readTasksConfig } from '@taskmesh/tasks';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A backup service and the stores that it backs up, each with the service that owns it. */
export interface RunningStores {
  auth: TestDatabase;
  tasks: TestDatabase;
  backup: Backup;
  work: BackupWork;
  backupsDir: string;
  stop(): Promise<void>;
}

/** New and empty stores: an installation of its own. */
export async function runStores(name: string): Promise<RunningStores> {
  const dir = await mkdtemp(join(tmpdir(), `taskmesh-${name}-`));
  const backupsDir = join(dir, 'backups');
  await mkdir(backupsDir);
  const [own, auth, tasks] = await Promise.all(
    ['backup', 'auth', 'tasks'].map((store) => createTestDatabase(`${name}_${store}`)),
  );
  if (!own || !auth || !tasks) throw new Error('There is no database.');
  const shared = { clock: { now: () => Date.now() }, log: createLog({ service: name, level: 'silent' }) };
  const keyValue = createMemoryKeyValue();
  const eventLog = createMemoryEventLog();
  const environment = { DATA_DIR: dir, NODE_ENV: 'test' };
  const authService = await createAuth(readAuthConfig({ ...environment, POSTGRES_URL: auth.url }), {
    ...shared,
    keyValue,
  });
  const tasksService = await createTasks(readTasksConfig({ ...environment, POSTGRES_URL: tasks.url }), {
    ...shared,
    eventLog,
  });
  const config = readBackupConfig({
    ...environment,
    POSTGRES_URL: own.url,
    BACKUPS_DIR: backupsDir,
    AUTH_ADMIN_URL: auth.url,
    TASKS_ADMIN_URL: tasks.url,
  });
  const owners = {
    auth: callInProcess(authRestore, authService.restore),
    tasks: callInProcess(tasksRestore, tasksService.restore),
  };
  const backup = await createBackup(config, { ...shared, owners });
  const services = [authService, tasksService, backup];
  for (const service of services) await service.start();

  return {
    auth,
    tasks,
    backup,
    work: backup.work,
    backupsDir,
    async stop() {
      for (const service of services.toReversed()) await service.stop();
      await keyValue.close();
      await eventLog.close();
      await Promise.all([own, auth, tasks].map((database) => database.drop()));
      await rm(dir, { recursive: true });
    },
  };
}
