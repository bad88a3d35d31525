import { defineEntity, p } from '@mikro-orm/core';
import type { TaskRow } from '@taskmesh/contracts';

/** The state behind cursors: the epoch, which each restore increases, and the key that seals them. */
export const FeedStateEntity = defineEntity({
  name: 'FeedState',
  tableName: 'feed_state',
  properties: {
    singleton: p.boolean().primary().default(true).check('singleton'),
    epoch: p.integer(),
    cursorKey: p.blob(),
  },
});

/** A column that only the previous release uses. */
const unused = () => p.integer().default(0);

export const FeedEntity = defineEntity({
  name: 'Feed',
  tableName: 'feeds',
  checks: [{ name: 'feeds_ended', expression: 'ends_at = sequence' }],
  triggers: [
    {
      name: 'feeds_count_tasks',
      timing: 'before',
      events: ['update'],
      forEach: 'row',
      expression: `
        create trigger feeds_count_tasks before update of pending_low on feeds
        for each row execute function feeds_count_tasks()`,
    },
    {
      name: 'feeds_count_first_task',
      timing: 'before',
      events: ['insert'],
      forEach: 'row',
      expression: `
        create trigger feeds_count_first_task before insert on feeds
        for each row when (new.counted is not null) execute function feeds_count_tasks()`,
    },
  ],
  properties: {
    ownerId: p.uuid().primary(),
    sequence: p.bigint('number'),
    /** Where the feed of a deleted account ends: the check refuses further writes. Null while the account exists. */
    endsAt: p.bigint('number').nullable(),
    /** The owner's current number of tasks; creating one beyond the limit is rejected. */
    tasks: p.integer().default(0),
    counted: p.bigint('number').nullable(),
    keys: unused(),
    pendingLow: unused(),
    pendingMedium: unused(),
    pendingHigh: unused(),
    completedLow: unused(),
    completedMedium: unused(),
    completedHigh: unused(),
  },
});

/** The change log, in commit order for each owner. `publishedAt` is set once the event log has the change. */
export const ChangeEntity = defineEntity({
  name: 'Change',
  tableName: 'changes',
  uniques: [{ name: 'changes_in_order', properties: ['ownerId', 'sequence'] }],
  indexes: [{ name: 'changes_to_publish', properties: ['part', 'id'], where: { publishedAt: null } }],
  properties: {
    id: p.bigint('string').primary(),
    part: p.smallint(),
    ownerId: p.uuid(),
    sequence: p.bigint('number'),
    kind: p.enum(['INSERT', 'UPDATE', 'DELETE']),
    /** The task's row after the change (for DELETE, its last state). `previous` is the row before it. */
    task: p.json<TaskRow>().columnType('json'),
    previous: p.json<TaskRow>().columnType('json').nullable(),
    occurredAt: p.datetime(3),
    traceparent: p.text().nullable(),
    publishedAt: p.datetime().nullable(),
  },
});
