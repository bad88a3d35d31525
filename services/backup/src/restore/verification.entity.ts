import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { StoreName } from '../databases/store.ts';

/** A verification that may have databases on the stores' servers; deleted when these are dropped. */
export const VerificationEntity = defineEntity({
  name: 'Verification',
  tableName: 'verifications',
  properties: {
    id: p.text().primary(),
    stores: p.array<StoreName>().columnType('text[]'),
    startedAt: p.datetime(3),
  },
});

export type Verification = InferEntity<typeof VerificationEntity>;
