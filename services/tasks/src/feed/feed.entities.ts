import { defineEntity, p } from '@mikro-orm/core';
import type { TaskRow } from '@taskmesh/events';

/** What a store's cursors are made with: the epoch, which grows with each restore, and the key that signs. */
export const FeedStateEntity = defineEntity({
  name: 'FeedState',
  tableName: 'feed_state',
  properties: {
    singleton: p.boolean().primary().default(true).check('singleton'),
    epoch: p.integer(),
    cursorKey: p.blob().name('cursor_key'),
  },
});

/** Where an owner's feed stands. */
export const FeedEntity = defineEntity({
  name: 'Feed',
  tableName: 'feeds',
  properties: {
    ownerId: p.uuid().name('owner_id').primary(),
    sequence: p.bigint('number'),
  },
});

/** What happened to tasks, in the order of the commits of each owner; the relay marks what the event log has. */
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
    /** The task's row after the change, or the last one, and the row before it. */
    task: p.json<TaskRow>().columnType('json'),
    previous: p.json<TaskRow>().columnType('json').nullable(),
    occurredAt: p.datetime(3),
    traceparent: p.text().nullable(),
    publishedAt: p.datetime().nullable(),
  },
});

/**
 * A change that the event log refused for good, or a record of it that a gateway could not read. The change stays in the
 * change log, so that feeds still have it.
 */
export const DeadLetterEntity = defineEntity({
  name: 'DeadLetter',
  tableName: 'dead_letters',
  properties: {
    id: p.bigint('string').primary(),
    source: p.enum(['relay', 'gateway']),
    /** The same one is kept once. */
    fingerprint: p.text().unique('dead_letters_once'),
    changeId: p.bigint('string').name('change_id').nullable(),
    ownerId: p.uuid().name('owner_id').nullable(),
    sequence: p.bigint('number').nullable(),
    record: p.text().nullable(),
    reason: p.text(),
    diedAt: p.datetime().name('died_at').defaultRaw('now()'),
  },
});
