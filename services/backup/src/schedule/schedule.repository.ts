import type { Database } from '@taskmesh/store';
import { ScheduleEntity, type Schedule } from './schedule.entity.ts';

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
