import { createLog } from '@taskmesh/service';
import type { StoreOptions } from '@taskmesh/store';
import { atEnd, createTemplate, createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { migrations } from '../../migrations/index.ts';
import { createTasksDatabase } from '../../src/database.ts';

export const silent = createLog({ service: 'tasks', level: 'silent' });

/** A new store with the service's schema. */
export async function createStore(name: string): Promise<TestDatabase> {
  const template = await createTemplate('tasks', migrations, (url) => createTasksDatabase({ url, log: silent }));
  return createTestDatabase(name, undefined, template);
}

/** Creates a store and opens the service's connections to it, until the end of the test or file. */
export async function openStore(name: string, options: Partial<StoreOptions> = {}) {
  const store = await createStore(name);
  const database = await createTasksDatabase({ url: store.url, log: silent, ...options });
  atEnd(() => database.close());
  return { store, database };
}
