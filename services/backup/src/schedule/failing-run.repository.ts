import type { Database } from '@taskmesh/store';
import { FailingRunEntity, type FailingRun, type RunName } from './failing-run.entity.ts';

export type FailingRunRepository = ReturnType<typeof createFailingRunRepository>;

export function createFailingRunRepository(database: Database) {
  return {
    find: (run: RunName): Promise<FailingRun | null> => database.retry((em) => em.findOne(FailingRunEntity, { run })),

    all: (): Promise<FailingRun[]> => database.retry((em) => em.findAll(FailingRunEntity)),

    save: (failing: FailingRun): Promise<unknown> =>
      database.retry((em) => em.upsert(FailingRunEntity, { ...failing })),

    remove: (run: RunName): Promise<unknown> => database.retry((em) => em.nativeDelete(FailingRunEntity, { run })),
  };
}
