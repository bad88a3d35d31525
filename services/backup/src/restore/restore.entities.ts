import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { StoreName } from '../databases/store.ts';

/**
 * - `loading`: the live stores are unchanged.
 * - `swapping`: one transaction swaps all stores; the server knows whether it was committed.
 * - `swapping-apart`: stores on several servers are being swapped, and stay closed until all are; still revertible.
 * - `decided`: all are swapped and only need to be opened.
 * - `restored`, `undone`: finished.
 */
export type RestoreStage = 'loading' | 'swapping' | 'swapping-apart' | 'decided' | 'restored' | 'undone';

/** A restore in the journal: enough to finish or revert it after a crash, and to undo it later. */
export const RestoreEntity = defineEntity({
  name: 'Restore',
  tableName: 'restores',
  indexes: [
    { name: 'restores_started_at_idx', properties: ['startedAt'], where: { endedAt: null } },
    { name: 'restores_left_until_idx', properties: ['leftUntil'], where: { leftUntil: { $ne: null } } },
  ],
  properties: {
    id: p.text().primary(),
    file: p.text(),
    stage: p.enum(['loading', 'swapping', 'swapping-apart', 'decided', 'restored', 'undone']),
    stores: p.array<StoreName>().columnType('text[]'),
    /** The restore that this one undoes. The other's old databases are the fresh ones here. */
    undoes: p.text().nullable(),
    /** The server's ids of the databases that will replace the live ones; ids survive renames. */
    freshIds: p.json<Partial<Record<StoreName, string>>>().defaultRaw(`'{}'`),
    safetyBackup: p.text().nullable(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    /** When its remaining databases may be dropped; null if none remain. */
    leftUntil: p.datetime(3).nullable(),
  },
});

export type Restore = InferEntity<typeof RestoreEntity>;

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
