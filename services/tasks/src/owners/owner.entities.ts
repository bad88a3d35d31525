import { defineEntity, p } from '@mikro-orm/core';

/** The position in auth's account log. */
export const AccountPositionEntity = defineEntity({
  name: 'AccountPosition',
  tableName: 'account_position',
  properties: {
    singleton: p.boolean().primary().default(true).check('singleton'),
    epoch: p.integer(),
    sequence: p.bigint('number'),
  },
});

/** An owner whose account was deleted, with rows that remain to be deleted. The feed's row is kept forever. */
export const ClosedOwnerEntity = defineEntity({
  name: 'ClosedOwner',
  tableName: 'closed_owners',
  properties: {
    ownerId: p.uuid().primary(),
    deletedAt: p.datetime(3),
  },
});
