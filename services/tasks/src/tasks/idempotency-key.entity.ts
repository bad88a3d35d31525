import { defineEntity, p } from '@mikro-orm/core';
import type { TaskRow } from '@taskmesh/contracts';

/** A create with an idempotency key: repeating it returns the same task. */
export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    ownerId: p.uuid().primary(),
    key: p.text().primary(),
    /** SHA-256 of the input. */
    inputHash: p.text(),
    task: p.json<TaskRow>().columnType('json'),
    expiresAt: p.datetime(3).index('idempotency_keys_by_age'),
  },
});
