import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { StoreName } from '../stores/store.ts';

/**
 * - `loading`: the living stores are untouched.
 * - `swapping`: all stores are swapped by one transaction; the server tells whether it happened.
 * - `swapping-apart`: stores of several servers are being swapped, and are closed until all are; it counts for nothing.
 * - `decided`: all of them are; they only have to be opened.
 * - `restored`, `undone`: the end.
 */
export type RestoreStage = 'loading' | 'swapping' | 'swapping-apart' | 'decided' | 'restored' | 'undone';

/** The journal's line about a restore: enough to finish or undo it after a crash, and to take it back for a while. */
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
    /** The restore that this one takes back: its old databases are the fresh ones here. */
    undoes: p.text().nullable(),
    /** What the server calls the databases that are to become the living ones, whatever their names are. */
    freshIds: p.json<Partial<Record<StoreName, string>>>().defaultRaw(`'{}'`),
    /** The archive of what is replaced, when one was made for it. */
    safetyBackup: p.text().nullable(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    /** When the databases that are left of it may be dropped. Null: nothing is left. */
    leftUntil: p.datetime(3).nullable(),
  },
});

export type Restore = InferEntity<typeof RestoreEntity>;
