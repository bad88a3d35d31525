import type { Database } from '@taskmesh/store';
import { unavailable } from '@taskmesh/contracts';
import { createBulkhead } from '@taskmesh/service';

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

/** Leaves connections of the pool to others while the statements of one owner wait for a lock or take long. */
export function shareAmongOwners(
  database: Pick<Database, 'run'>,
  { perOwner, maxWaitMs = 5_000 }: SharedDatabaseOptions,
): SharedDatabase {
  const bulkhead = createBulkhead({
    concurrency: perOwner,
    maxWaitMs,
    refusal: () => unavailable('Your earlier requests are still running; try again.'),
  });
  return {
    run: (kind, statement, values, ownerId) =>
      ownerId === undefined
        ? database.run(kind, statement, values)
        : bulkhead.run(ownerId, () => database.run(kind, statement, values)),
  };
}
