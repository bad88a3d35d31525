import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import type { Databases } from './stores.ts';

/** The services do not export their databases, so their modules are imported by path. */
const moduleOf = (service: string) =>
  import(new URL(`../../services/${service}/src/database.ts`, import.meta.url).href);

/** Creates databases migrated to these versions, as an earlier release left them; on the tests' server by default. */
export async function earlierStores(versions: { auth: string; tasks: string }, server?: string): Promise<Databases> {
  const log = createLog({ service: 'earlier', level: 'silent' });
  const databases = {
    auth: await createTestDatabase('earlier_auth', server),
    tasks: await createTestDatabase('earlier_tasks', server),
  };
  const { createAuthDatabase } = await moduleOf('auth');
  const { createTasksDatabase } = await moduleOf('tasks');
  const stores = {
    auth: await createAuthDatabase({ url: databases.auth.url, log }),
    tasks: await createTasksDatabase({ url: databases.tasks.url, poolSize: 1, log }),
  };
  for (const name of ['auth', 'tasks'] as const) {
    await stores[name].migrate({ to: versions[name] });
    await stores[name].close();
  }
  return databases;
}
