import type { AccountDeleted } from '@taskmesh/contracts';
import type { AccountLogPosition, AccountsInternal } from '@taskmesh/internal-api';
import type { OwnerRepository } from './owner.repository.ts';

export interface AccountLogReaderDeps {
  repository: Pick<OwnerRepository, 'position' | 'countTasks' | 'close' | 'move'>;
  accounts: AccountsInternal;
  /** Called after each owner that was closed. */
  onClosed: () => void;
}

/**
 * Follows auth's account log, in order and each entry once, using the position in our own store. Only auth says that an account
 * was deleted: anyone who may write to the event log could have written its records.
 */
export function createAccountLogReader({ repository, accounts, onClosed }: AccountLogReaderDeps) {
  /** The new position; undefined when another instance was faster. */
  const take = async (from: AccountLogPosition, entry: AccountDeleted): Promise<AccountLogPosition | undefined> => {
    if (!(await repository.close(from, entry))) return undefined;
    onClosed();
    return { epoch: entry.epoch, sequence: entry.sequence };
  };

  return {
    /** Asks auth until there are no more entries. */
    async catchUp(): Promise<void> {
      for (;;) {
        const position = await repository.position();
        const { epoch, head, changes } = await accounts.accountChanges(position);
        if (epoch === position.epoch && head === position.sequence) return;
        // Nothing was read yet. If psql loaded this store, it has tasks and no feeds.
        if (position.epoch === 0) await repository.countTasks();
        if (changes.length === 0) return repository.move(position, epoch);
        let reached: AccountLogPosition | undefined = position;
        for (const entry of changes) {
          reached = await take(reached, entry);
          if (!reached) break;
        }
      }
    },
  };
}
