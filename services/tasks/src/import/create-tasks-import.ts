import { inTransaction, compareRows, createImporter, type ImporterOptions } from '@taskmesh/store';
import type { TasksRestore } from '@taskmesh/internal-api';
import { keepOwnersClosed } from './closed-owners.ts';
import { beginEpoch, resumeEpoch } from './epoch.ts';
import { taskRules } from './rules.ts';

export interface TasksImportDeps extends Pick<ImporterOptions, 'url' | 'databaseAt' | 'log'> {
  /** In the live store; also announces it. */
  newEpoch: TasksRestore['newEpoch'];
}

/** Turns the database of a restored backup into a store. Rows do not pass through this process. */
export function createTasksImport({ newEpoch, ...deps }: TasksImportDeps): TasksRestore {
  const { importDatabase, resume, withStores } = createImporter({
    ...deps,
    name: 'taskmesh-tasks-import',
    rules: {
      ...taskRules,
      async complete(stores) {
        await beginEpoch(stores);
        await keepOwnersClosed(stores);
      },
    },
  });

  return {
    importDatabase,
    newEpoch,
    resume: (database) =>
      resume(database, (stores) =>
        inTransaction(stores.to, async () => {
          await resumeEpoch(stores);
          await keepOwnersClosed(stores);
        }),
      ),
    compare: (database) =>
      withStores(database, async (stores) => ({ tables: { tasks: await compareRows(stores, 'tasks') } })),
  };
}
