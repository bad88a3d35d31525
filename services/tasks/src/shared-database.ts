import type { Database } from '@taskmesh/database';
import { unavailable } from '@taskmesh/errors';

type Run = Database['run'];

/** Runs statements; with an owner, only some of that owner's at once. */
export interface SharedDatabase {
  /** @throws AppError SERVICE_UNAVAILABLE also when earlier statements of the owner take too long */
  run<Row extends Record<string, unknown>>(...statement: [...Parameters<Run>, ownerId?: string]): Promise<Row[]>;
}

export interface SharedDatabaseOptions {
  /** How many statements of one owner run at once. */
  perOwner: number;
  /** How long further ones wait. @default 5_000, as long as a statement may take */
  maxWaitMs?: number;
}

interface Share {
  running: number;
  /** Start the statements that wait, in order. */
  waiting: Set<() => void>;
}

/** Leaves connections of the pool to others while the statements of one owner wait for a lock or take long. */
export function shareAmongOwners(
  database: Pick<Database, 'run'>,
  { perOwner, maxWaitMs = 5_000 }: SharedDatabaseOptions,
): SharedDatabase {
  const shares = new Map<string, Share>();

  const turnIn = ({ waiting }: Share) =>
    new Promise<void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(unavailable('Your earlier requests are still running; try again.'));
      }, maxWaitMs);
      waiting.add(start);
    });

  return {
    async run(kind, statement, values, ownerId) {
      if (ownerId === undefined) return database.run(kind, statement, values);
      const share = shares.get(ownerId) ?? { running: 0, waiting: new Set() };
      shares.set(ownerId, share);
      if (share.running < perOwner) share.running++;
      else await turnIn(share);
      try {
        return await database.run(kind, statement, values);
      } finally {
        const [startNext] = share.waiting;
        if (startNext) startNext();
        else if (--share.running === 0) shares.delete(ownerId);
      }
    },
  };
}
