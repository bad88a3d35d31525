import { defineEntity, p } from '@mikro-orm/core';

/**
 * A change that the event log rejected permanently, or a record that a gateway could not read. The change itself stays in
 * the change log, so feeds still contain it.
 */
export const DeadLetterEntity = defineEntity({
  name: 'DeadLetter',
  tableName: 'dead_letters',
  properties: {
    id: p.bigint('string').primary(),
    source: p.enum(['relay', 'gateway']),
    fingerprint: p.text().unique('dead_letters_once'),
    changeId: p.bigint('string').nullable(),
    ownerId: p.uuid().nullable().index('dead_letters_owner_id'),
    sequence: p.bigint('number').nullable(),
    record: p.text().nullable(),
    reason: p.text(),
    diedAt: p.datetime().defaultRaw('now()'),
  },
});
