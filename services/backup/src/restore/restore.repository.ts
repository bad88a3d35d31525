import { whileAway, type Database } from '@taskmesh/database';
import { RestoreEntity, type Restore, type RestoreStage } from './restore.entity.ts';

export type RestoreRepository = ReturnType<typeof createRestoreRepository>;

/** The journal of restores. What it says is on disk before it returns. */
export function createRestoreRepository(database: Database) {
  return {
    unfinished: (): Promise<Restore[]> =>
      whileAway({ kind: 'read' }, () =>
        database.em().find(RestoreEntity, { endedAt: null }, { orderBy: { startedAt: 'asc' } }),
      ),

    begin: (restore: Restore): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().upsert(RestoreEntity, { ...restore })),

    /** Repeating it changes nothing more: so it may be repeated when its outcome is unknown. */
    setStage: (id: string, stage: RestoreStage, endedAt: Date | null = null): Promise<unknown> =>
      whileAway({ kind: 'read' }, () => database.em().nativeUpdate(RestoreEntity, { id }, { stage, endedAt })),
  };
}
