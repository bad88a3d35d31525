import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const ScheduleEntity = defineEntity({
  name: 'Schedule',
  tableName: 'schedule',
  properties: {
    id: p.text().primary(),
    /** The last scheduled moment whose work ended. */
    moment: p.datetime(3),
    /** The last scheduled moment whose work was started, when it was last started, and how often. */
    begunMoment: p.datetime(3).nullable(),
    begunAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
});

export type Schedule = InferEntity<typeof ScheduleEntity>;

/** The names of scheduled work, as operators see them. */
export type RunName = 'backup' | 'verification' | 'retention';

/** A run whose last attempt failed; deleted by the next success. */
export const FailingRunEntity = defineEntity({
  name: 'FailingRun',
  tableName: 'failing_runs',
  properties: {
    run: p.text().$type<RunName>().primary(),
    since: p.datetime(3),
    notifiedAt: p.datetime(3).nullable().name('told_at'),
  },
});

export type FailingRun = InferEntity<typeof FailingRunEntity>;
