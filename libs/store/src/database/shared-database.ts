import { unavailable } from '@taskmesh/contracts';
import { createBulkhead } from '@taskmesh/service';
import type { QueryResultRow } from 'pg';
import type { Database } from './database.ts';

type Run = Database['run'];

/** Runs statements; with an owner, only some of that owner's at once. */
export interface SharedDatabase {
  /** @throws AppError SERVICE_UNAVAILABLE also when earlier statements of the owner take too long */
  run<Row extends QueryResultRow>(...statement: [...Parameters<Run>, ownerId?: string]): Promise<Row[]>;
}

/** How long further statements wait: as long as a statement may take. */
const MAX_WAIT_MS = 5_000;

/** At most `perOwner` statements of an owner run at once, so that connections are left to others while these wait or take long. */
export function shareAmongOwners(database: Pick<Database, 'run'>, perOwner: number): SharedDatabase {
  const bulkhead = createBulkhead({
    concurrency: perOwner,
    maxWaitMs: MAX_WAIT_MS,
    refusal: () => unavailable('Your earlier requests are still running; try again.'),
  });
  return {
    run: (kind, statement, values, ownerId) =>
      ownerId === undefined
        ? database.run(kind, statement, values)
        : bulkhead.run(ownerId, () => database.run(kind, statement, values)),
  };
}
