import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { StoreName } from '../stores/store.ts';

/**
 * `loading`: the living stores are untouched. `swapping`: some of them may be replaced. The other two are the end.
 */
export type RestoreStage = 'loading' | 'swapping' | 'restored' | 'undone';

/** The journal's line about a restore: enough to finish or undo it after a crash. */
export const RestoreEntity = defineEntity({
  name: 'Restore',
  tableName: 'restores',
  properties: {
    id: p.string().primary(),
    file: p.string(),
    stage: p.string().$type<RestoreStage>(),
    stores: p.array<StoreName>().columnType('text[]'),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
  },
});

export type Restore = InferEntity<typeof RestoreEntity>;
