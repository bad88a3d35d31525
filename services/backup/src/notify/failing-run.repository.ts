import { whileAway, type Database } from '@taskmesh/database';
import { FailingRunEntity, type FailingRun, type RunName } from './failing-run.entity.ts';

export type FailingRunRepository = ReturnType<typeof createFailingRunRepository>;

export function createFailingRunRepository(database: Database) {
  return {
    find: (run: RunName): Promise<FailingRun | null> =>
      whileAway({ kind: 'read' }, () => database.em().findOne(FailingRunEntity, { run })),

    all: (): Promise<FailingRun[]> => whileAway({ kind: 'read' }, () => database.em().findAll(FailingRunEntity)),

    save: (failing: FailingRun): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().upsert(FailingRunEntity, { ...failing })),

    remove: (run: RunName): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().nativeDelete(FailingRunEntity, { run })),
  };
}
