import { inTransaction, type Database, type Session } from '@taskmesh/database';
import { END_TURN, HOLD_OWNER, MAKE_KEYS, MOST_WITHOUT_KEYS, RECOUNT, TAKE_TURN } from './count.statements.ts';

/** The most owners remembered at once; others are noticed again later. */
const MOST_OWNERS = 10_000;
/** A million tasks may take minutes. */
const TIMEOUT_MS = 600_000;
/** An owner's writes wait while the owner is counted, but not for an instance that is frozen. */
const SETTINGS = { idle_in_transaction_session_timeout: '10s' };

/** Remembers owners whose tasks a read found uncounted or without keys; `run` counts them for all later reads. */
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
          if (isStopped) return; // perhaps while it was connecting
          owners.delete(owner); // an owner who cannot be counted must not block the others for ever
          await recount(session, owner);
        }
      } catch (error) {
        if (!isStopped) throw error;
      } finally {
        await session.close();
      }
    },
    /** Gives up a current run, which may take minutes; an instance that needs it later begins again. */
    async stop(): Promise<void> {
      isStopped = true;
      await session?.close();
    },
  };
}
