import { openSource } from '../../feed/load/sources.ts';
import { atRandom } from './at-random.ts';

/** Writes tasks into the store as the service does, past the service. */
export interface Committer {
  /** One task for each of these owners, in one transaction. */
  together(owners: string[]): Promise<void>;
  /** Single tasks of the owners in turn. */
  atRandom(owners: string[], pace: { perSecond: number; seconds: number }): Promise<number>;
  close(): Promise<void>;
}

export async function createCommitter(tasksDatabase: string): Promise<Committer> {
  const source = await openSource('commit', { tasksDatabase });
  let n = 0;
  const commit = (owners: string[]) => source.make(owners.map((ownerId) => ({ n: ++n, ownerId, sequence: 0 })));
  return {
    together: async (owners) => void (await commit(owners)),
    async atRandom(owners, pace) {
      let turn = 0;
      return atRandom(() => commit([owners[turn++ % owners.length] ?? '']), pace);
    },
    close: source.close,
  };
}
