import { whileAway, type Database } from '@taskmesh/database';
import { ScheduleEntity } from './schedule.entity.ts';

export type ScheduleRepository = ReturnType<typeof createScheduleRepository>;

const ID = 'backup';

export function createScheduleRepository(database: Database) {
  return {
    lastMoment: async (): Promise<Date | undefined> =>
      (await whileAway({ kind: 'read' }, () => database.em().findOne(ScheduleEntity, { id: ID })))?.moment,

    setLastMoment: (moment: Date): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().upsert(ScheduleEntity, { id: ID, moment })),
  };
}
