import { inTransaction, type Database, type Session } from '@taskmesh/database';
import { END_TURN, HOLD_OWNER, MAKE_KEYS, MOST_WITHOUT_KEYS, RECOUNT, TAKE_TURN } from './count.statements.ts';

/** At once; whoever does not fit in is noticed again. */
const MOST_OWNERS = 10_000;
/** A million tasks may take minutes. */
const TIMEOUT_MS = 600_000;
/** While an owner is counted, that owner's writes wait: not for an instance that stands still. */
const SETTINGS = { idle_in_transaction_session_timeout: '10s' };

/** Owners of whom a read found that their tasks are not counted, or lack keys. `run` sees to it, for all reads that follow. */
export function createRecounts(database: Pick<Database, 'openSession'>) {
  const owners = new Set<string>();
  let session: Session | undefined;
  let isStopped = false;

  const recount = async (of: Session, owner: string) => {
    const { run } = of;
    const [turn] = await run<{ is_ours: boolean }>(TAKE_TURN, [owner]);
    if (!turn?.is_ours) return;
    await run(MAKE_KEYS, [owner, MOST_WITHOUT_KEYS]);
    await inTransaction(of, async () => {
      await run(HOLD_OWNER, [owner]);
      await run(RECOUNT, [owner, MOST_WITHOUT_KEYS]);
    });
    await run(END_TURN, [owner]);
  };

  return {
    note(ownerId: string): void {
      if (owners.size < MOST_OWNERS) owners.add(ownerId);
    },
    async run(): Promise<void> {
      if (owners.size === 0 || isStopped) return;
      session = await database.openSession({ timeoutMs: TIMEOUT_MS, settings: SETTINGS });
      try {
        for (const owner of owners) {
          if (isStopped) return; // while it connected, too
          owners.delete(owner); // one who cannot be counted does not keep the others waiting for ever
          await recount(session, owner);
        }
      } catch (error) {
        if (!isStopped) throw error;
      } finally {
        await session.close();
      }
    },
    /** What runs is given up: it may take minutes, and the next instance that needs it begins again. */
    async stop(): Promise<void> {
      isStopped = true;
      await session?.close();
    },
  };
}
