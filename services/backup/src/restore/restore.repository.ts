import { whileAway, type Database } from '@taskmesh/database';
import { latestPossible } from '../future.ts';
import { RestoreEntity, type Restore } from './restore.entity.ts';

export type RestoreRepository = ReturnType<typeof createRestoreRepository>;

/** The journal of restores. What it says is on disk before it returns. */
export function createRestoreRepository(database: Database) {
  const again = <Result>(work: () => Promise<Result>) => whileAway({ kind: 'read' }, work);
  /** Repeating it changes nothing more: so it may be repeated when its outcome is unknown. */
  const update = (id: string, values: Partial<Restore>) =>
    again(() => database.em().nativeUpdate(RestoreEntity, { id, endedAt: null }, values));

  return {
    unfinished: (): Promise<Restore[]> =>
      again(() => database.em().find(RestoreEntity, { endedAt: null }, { orderBy: { startedAt: 'asc' } })),

    /** Ended ones of which databases are left that may be dropped. */
    overdue: (now: Date): Promise<Restore[]> =>
      again(() => database.em().find(RestoreEntity, { endedAt: { $ne: null }, leftUntil: { $lte: now } })),

    /** What was ended by a clock that was ahead would be kept until that time comes, and as long again. */
    async limitKeeping(now: Date, keepOldMs: number): Promise<void> {
      const endedAhead = { endedAt: { $gt: latestPossible(now) } };
      const longest = { restored: new Date(now.getTime() + keepOldMs), undone: now };
      for (const stage of ['restored', 'undone'] as const) {
        const until = longest[stage];
        const tooLong = { ...endedAhead, stage, leftUntil: { $gt: until } };
        await again(() => database.em().nativeUpdate(RestoreEntity, tooLong, { leftUntil: until }));
      }
    },

    /** The last one that replaced the stores, if its old ones are still kept. */
    kept: (now: Date): Promise<Restore | null> =>
      again(() =>
        database
          .em()
          .findOne(RestoreEntity, { stage: 'restored', leftUntil: { $gt: now } }, { orderBy: { endedAt: 'desc' } }),
      ),

    find: (id: string): Promise<Restore> => again(() => database.em().findOneOrFail(RestoreEntity, { id })),

    begin: (restore: Restore): Promise<unknown> => again(() => database.em().upsert(RestoreEntity, { ...restore })),

    /** @throws Error when the restore has ended: somebody else has settled it */
    async reach(id: string, values: Pick<Restore, 'stage'> & Partial<Restore>): Promise<void> {
      if ((await update(id, values)) === 0) throw new Error('The restore was settled by somebody else.');
    },

    /**
     * Of what earlier restores left nothing is kept any longer; what this one takes back lives again. False, and nothing
     * changes, when it is at another stage by now: whoever is at work on it has gone on.
     */
    end: (
      { id, stage, undoes }: Restore,
      end: { stage: 'restored' | 'undone'; at: Date; leftUntil: Date | null },
    ): Promise<boolean> =>
      again(() =>
        database.em().transactional(async (em) => {
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
      again(() => database.em().nativeUpdate(RestoreEntity, { id }, { leftUntil: null })),
  };
}
