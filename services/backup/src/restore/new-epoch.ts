import { unavailable } from '@taskmesh/contracts';
import type { Log } from '@taskmesh/service';
import type { RunLock } from '../run-lock.ts';
import type { StoreOwner } from '../databases/store.ts';
import { RestoreBusy } from './restore-busy.ts';

export interface NewEpochDeps {
  lock: RunLock;
  waitMs: number;
  settleAll: () => Promise<void>;
  owner: StoreOwner;
  /** Of the accounts, whose log others follow. */
  accountsOwner: StoreOwner;
  /** Absent: derived from the clock. */
  atLeast?: number | null | undefined;
  log: Log;
}

/**
 * Never runs during a restore, which derives its own epoch from the live one and would end up with a lower one.
 * @throws AppError SERVICE_UNAVAILABLE; CONFLICT when the clock is evidently behind; BAD_USER_INPUT
 */
export async function beginNewEpoch(deps: NewEpochDeps): Promise<number> {
  const { lock, waitMs, settleAll, owner, accountsOwner, atLeast, log } = deps;
  try {
    return await lock.run(waitMs, async (mayGoOn) => {
      await settleAll(); // this may take a while
      if (!owner.newEpoch || !(await mayGoOn())) throw unavailable();
      const epoch = await owner.newEpoch(atLeast);
      await accountsOwner.newEpoch?.();
      log.warn({ epoch }, 'a new epoch was begun: clients read their lists anew');
      return epoch;
    });
  } catch (error) {
    throw error instanceof RestoreBusy ? unavailable(error.message, error) : error;
  }
}
