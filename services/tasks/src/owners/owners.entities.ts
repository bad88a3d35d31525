import { defineEntity, p } from '@mikro-orm/core';

/** How far auth's account log was read. */
export const AccountPositionEntity = defineEntity({
  name: 'AccountPosition',
  tableName: 'account_position',
  properties: {
    singleton: p.boolean().primary().default(true).check('singleton'),
    epoch: p.integer(),
    sequence: p.bigint('number'),
  },
});

/** An owner whose account was deleted, and of whom something is left. The feed's row stays for good, without the tasks. */
export const ClosedOwnerEntity = defineEntity({
  name: 'ClosedOwner',
  tableName: 'closed_owners',
  properties: {
    ownerId: p.uuid().name('owner_id').primary(),
    deletedAt: p.datetime(3).name('deleted_at'),
  },
});
