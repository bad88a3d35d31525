import { inTransaction, type Database } from '@taskmesh/database';
import { END_TURN, HOLD_OWNER, MAKE_KEYS, MOST_WITHOUT_KEYS, RECOUNT, TAKE_TURN } from './count.statements.ts';

/** A million tasks may take minutes. */
const TIMEOUT_MS = 600_000;
/** An owner's writes wait while the owner is counted, but not for an instance that is frozen. */
const SETTINGS = { idle_in_transaction_session_timeout: '10s' };

/** A connection that counts one owner's tasks after another's. */
export interface CountSession {
  /** Does nothing if another instance is counting this owner. */
  recount(ownerId: string): Promise<void>;
  /** Gives up a current count, which may take minutes. Idempotent. */
  close(): Promise<void>;
}

export type CountRepository = ReturnType<typeof createCountRepository>;

export function createCountRepository(database: Pick<Database, 'openSession'>) {
  return {
    async openSession(): Promise<CountSession> {
      const session = await database.openSession({ timeoutMs: TIMEOUT_MS, settings: SETTINGS });
      const { run, close } = session;
      return {
        async recount(ownerId) {
          const [turn] = await run<{ is_ours: boolean }>(TAKE_TURN, [ownerId]);
          if (!turn?.is_ours) return;
          await run(MAKE_KEYS, [ownerId, MOST_WITHOUT_KEYS]);
          await inTransaction(session, async () => {
            await run(HOLD_OWNER, [ownerId]);
            await run(RECOUNT, [ownerId, MOST_WITHOUT_KEYS]);
          });
          await run(END_TURN, [ownerId]);
        },
        close,
      };
    },
  };
}
