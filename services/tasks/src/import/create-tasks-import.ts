import { inTransaction } from '@taskmesh/database';
import type { TasksRestore } from '@taskmesh/internal-api';
import { compareRows, createImporter, type ImporterOptions } from '@taskmesh/restore-import';
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
    rules: { ...taskRules, complete: beginEpoch },
  });

  return {
    importDatabase,
    newEpoch,
    resume: (database) => resume(database, (stores) => inTransaction(stores.to, () => resumeEpoch(stores))),
    compare: (database) =>
      withStores(database, async (stores) => ({ tables: { tasks: await compareRows(stores, 'tasks') } })),
  };
}
