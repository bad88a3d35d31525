import { defineEntity } from '@mikro-orm/core';

/** What a store's cursors are made with: the epoch, which grows with each restore, and the key that signs. */
export const FeedStateEntity = defineEntity({
  name: 'FeedState',
  tableName: 'feed_state',
  properties: (p) => ({
    singleton: p.boolean().primary(),
    epoch: p.integer(),
    cursorKey: p.blob().name('cursor_key'),
  }),
});

/** Where an owner's feed stands. */
export const FeedEntity = defineEntity({
  name: 'Feed',
  tableName: 'feeds',
  properties: (p) => ({
    ownerId: p.uuid().name('owner_id').primary(),
    sequence: p.bigint('number'),
  }),
});

/**
 * A change that the event log refused for good, or a record of it that a gateway could not read. The change stays in the
 * change log, so that feeds still have it.
 */
export const DeadLetterEntity = defineEntity({
  name: 'DeadLetter',
  tableName: 'dead_letters',
  properties: (p) => ({
    id: p.bigint('string').primary(),
    source: p.enum(['relay', 'gateway']),
    /** The same one is kept once. */
    fingerprint: p.text().unique(),
    changeId: p.bigint('string').name('change_id').nullable(),
    ownerId: p.uuid().name('owner_id').nullable(),
    sequence: p.bigint('number').nullable(),
    record: p.text().nullable(),
    reason: p.text(),
    diedAt: p.datetime().name('died_at'),
  }),
});
