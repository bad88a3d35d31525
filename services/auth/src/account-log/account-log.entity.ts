import { defineEntity, p } from '@mikro-orm/core';

/** A deleted account; `publishedAt` is set once the event log has the entry. */
export const AccountLogEntryEntity = defineEntity({
  name: 'AccountLogEntry',
  tableName: 'account_log',
  uniques: [{ name: 'account_log_once', properties: ['accountId', 'kind'] }],
  indexes: [{ name: 'account_log_to_publish', properties: ['sequence'], where: { publishedAt: null } }],
  properties: {
    sequence: p.bigint('number').primary().autoincrement(false),
    accountId: p.uuid(),
    kind: p.enum(['DELETED']),
    occurredAt: p.datetime(3),
    publishedAt: p.datetime().nullable(),
  },
});

/** A single row, `id` 1, which is locked to append an entry. */
export const AccountLogStateEntity = defineEntity({
  name: 'AccountLogState',
  tableName: 'account_log_state',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    epoch: p.integer(),
    last: p.bigint('number'),
  },
});
