import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const ScheduleEntity = defineEntity({
  name: 'Schedule',
  tableName: 'schedule',
  properties: {
    id: p.text().primary(),
    /** The last moment whose work ended. */
    moment: p.datetime(3),
    /** The last moment whose work started, when it did, and how often. */
    begunMoment: p.datetime(3).nullable(),
    begunAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
});

export type Schedule = InferEntity<typeof ScheduleEntity>;
