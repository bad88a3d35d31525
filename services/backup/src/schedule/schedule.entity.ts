import { defineEntity, p } from '@mikro-orm/core';

/** The last moment of the schedule that an instance took upon itself. */
export const ScheduleEntity = defineEntity({
  name: 'Schedule',
  tableName: 'schedule',
  properties: { id: p.string().primary(), moment: p.datetime(3) },
});
