import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** Scheduled work, by the names that operators see. */
export type RunName = 'backup' | 'verification' | 'retention';

/** A run whose last attempt failed; deleted by the next success. */
export const FailingRunEntity = defineEntity({
  name: 'FailingRun',
  tableName: 'failing_runs',
  properties: {
    run: p.text().$type<RunName>().primary(),
    since: p.datetime(3),
    toldAt: p.datetime(3).nullable(),
  },
});

export type FailingRun = InferEntity<typeof FailingRunEntity>;
