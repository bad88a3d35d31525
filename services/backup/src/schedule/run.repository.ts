import type { Database } from '@taskmesh/store';
import { FailingRunEntity, ScheduleEntity, type FailingRun, type RunName, type Schedule } from './run.entities.ts';

export type ScheduleRepository = ReturnType<typeof createScheduleRepository>;

/** The state of the schedule `id`. Each step is on disk when it resolves, and may be repeated. */
export function createScheduleRepository(database: Database, id: string) {
  return {
    find: (): Promise<Schedule | null> => database.retry((em) => em.findOne(ScheduleEntity, { id })),

    begin: (begun: { moment: Date; at: Date; attempts: number }): Promise<unknown> =>
      database.retry((em) =>
        em.nativeUpdate(
          ScheduleEntity,
          { id },
          { begunMoment: begun.moment, begunAt: begun.at, attempts: begun.attempts },
        ),
      ),

    end: (moment: Date): Promise<unknown> =>
      database.retry((em) => em.upsert(ScheduleEntity, { id, moment, attempts: 0 })),
  };
}

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
