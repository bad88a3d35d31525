import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** What runs by itself, by the names that operators are told. */
export type RunName = 'backup' | 'verification' | 'retention';

/** A run whose last attempt failed; the line goes with the next good one. */
export const FailingRunEntity = defineEntity({
  name: 'FailingRun',
  tableName: 'failing_runs',
  properties: {
    run: p.text().$type<RunName>().primary(),
    since: p.datetime(3),
    /** When somebody was last told. */
    toldAt: p.datetime(3).nullable(),
  },
});

export type FailingRun = InferEntity<typeof FailingRunEntity>;
