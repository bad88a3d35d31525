import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** How far a schedule is. */
export const ScheduleEntity = defineEntity({
  name: 'Schedule',
  tableName: 'schedule',
  properties: {
    id: p.text().primary(),
    /** The last one whose work ended. */
    moment: p.datetime(3),
    /** The last one whose work began, when that was, and how often it did. */
    begunMoment: p.datetime(3).nullable(),
    begunAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
});

export type Schedule = InferEntity<typeof ScheduleEntity>;
