import type { Database } from '@taskmesh/database';
import { MAKE_KEYS, MOST_WITHOUT_KEYS, RECOUNT } from './count.statements.ts';

/** At once; whoever does not fit in is noticed again. */
const MOST_OWNERS = 10_000;
/** A million tasks may take minutes. */
const TIMEOUT_MS = 600_000;

/** Owners of whom a read found that their tasks are not counted, or lack keys. `run` sees to it, for all reads that follow. */
export function createRecounts(database: Pick<Database, 'openSession'>) {
  const owners = new Set<string>();
  return {
    note(ownerId: string): void {
      if (owners.size < MOST_OWNERS) owners.add(ownerId);
    },
    async run(): Promise<void> {
      if (owners.size === 0) return;
      const session = await database.openSession({ timeoutMs: TIMEOUT_MS });
      try {
        for (const owner of owners) {
          owners.delete(owner); // one who cannot be counted does not keep the others waiting for ever
          await session.run(MAKE_KEYS, [owner, MOST_WITHOUT_KEYS]);
          await session.run(RECOUNT, [owner, MOST_WITHOUT_KEYS]);
        }
      } finally {
        await session.close();
      }
    },
  };
}
