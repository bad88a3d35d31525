import type { Database } from '@taskmesh/store';
import { RestoreEntity, VerificationEntity, type Restore, type Verification } from './restore.entities.ts';

export type RestoreRepository = ReturnType<typeof createRestoreRepository>;

/** The journal of restores. Each step is on disk when it resolves. */
export function createRestoreRepository(database: Database) {
  /** Idempotent, so it may be repeated when its outcome is unknown. */
  const update = (id: string, values: Partial<Restore>) =>
    database.retry((em) => em.nativeUpdate(RestoreEntity, { id, endedAt: null }, values));

  return {
    unfinished: (): Promise<Restore[]> =>
      database.retry((em) => em.find(RestoreEntity, { endedAt: null }, { orderBy: { startedAt: 'asc' } })),

    /** Finished restores with databases that may be dropped: those of an undone one regardless of the clock. */
    overdue: (now: Date): Promise<Restore[]> =>
      database.retry((em) =>
        em.find(RestoreEntity, {
          endedAt: { $ne: null },
          $or: [{ leftUntil: { $lte: now } }, { stage: 'undone', leftUntil: { $ne: null } }],
        }),
      ),

    /** The last restore, if the stores it replaced are still kept. */
    kept: (now: Date): Promise<Restore | null> =>
      database.retry((em) =>
        em.findOne(RestoreEntity, { stage: 'restored', leftUntil: { $gt: now } }, { orderBy: { endedAt: 'desc' } }),
      ),

    find: (id: string): Promise<Restore> => database.retry((em) => em.findOneOrFail(RestoreEntity, { id })),

    begin: (restore: Restore): Promise<unknown> => database.retry((em) => em.upsert(RestoreEntity, { ...restore })),

    /** @throws Error when the restore has ended, because another instance settled it */
    async reach(id: string, values: Pick<Restore, 'stage'> & Partial<Restore>): Promise<void> {
      if ((await update(id, values)) === 0) throw new Error('Another instance settled the restore.');
    },

    /**
     * Ends a restore. If it succeeded, the databases of earlier restores are no longer kept, and those of a restore that it
     * undid are live again. Returns false without changes if the stage has changed, because another instance is at work.
     */
    end: (
      { id, stage, undoes }: Restore,
      end: { stage: 'restored' | 'undone'; at: Date; leftUntil: Date | null },
    ): Promise<boolean> =>
      database.retry((fork) =>
        fork.transactional(async (em) => {
          const { at, leftUntil } = end;
          const values = { stage: end.stage, endedAt: at, leftUntil };
          const earlier = { id: { $ne: id }, leftUntil: { $gt: at } };
          if ((await em.nativeUpdate(RestoreEntity, { id, stage, endedAt: null }, values)) === 0) return false;
          if (end.stage === 'undone') return true;
          if (undoes !== null) await em.nativeUpdate(RestoreEntity, { id: undoes }, { leftUntil: null });
          await em.nativeUpdate(RestoreEntity, earlier, { leftUntil: at });
          return true;
        }),
      ),

    leftNothing: (id: string): Promise<unknown> =>
      database.retry((em) => em.nativeUpdate(RestoreEntity, { id }, { leftUntil: null })),
  };
}

export type VerificationRepository = ReturnType<typeof createVerificationRepository>;

/** The journal of verifications. Each step is on disk when it resolves, and may be repeated. */
export function createVerificationRepository(database: Database) {
  return {
    all: (): Promise<Verification[]> => database.retry((em) => em.findAll(VerificationEntity)),

    begin: (verification: Verification): Promise<unknown> =>
      database.retry((em) => em.upsert(VerificationEntity, { ...verification })),

    end: (id: string): Promise<unknown> => database.retry((em) => em.nativeDelete(VerificationEntity, { id })),
  };
}
