import { openSource } from '../../feed/load/sources.ts';
import { inTurns, pace } from '../../load/paced.ts';

/** Writes tasks into the store as the service does, past the service. */
export type Committer = Awaited<ReturnType<typeof createCommitter>>;

export async function createCommitter(tasksDatabase: string) {
  const source = await openSource('commit', { tasksDatabase });
  let n = 0;
  /** One task for each of these owners, in one transaction. */
  const together = (owners: string[]) => source.make(owners.map((ownerId) => ({ n: ++n, ownerId, sequence: 0 })));
  return {
    together,
    /** Single tasks of the owners in turn. */
    atRandom(owners: string[], { perSecond, seconds }: { perSecond: number; seconds: number }) {
      const next = inTurns(owners);
      return pace(() => together([next()]), { perSecond, seconds, random: Math.random });
    },
    close: source.close,
  };
}
