import type { AccountDeleted } from '@taskmesh/events';
import type { AccountLogPosition, AccountsInternal } from '@taskmesh/internal-api';
import type { OwnerRepository } from './owner.repository.ts';

export interface AccountLogReaderDeps {
  repository: Pick<OwnerRepository, 'position' | 'close' | 'move'>;
  accounts: AccountsInternal;
  /** Called after each owner that was closed. */
  onClosed: () => void;
}

/**
 * Follows auth's account log, in order and each entry once, using the position in our own store. Takes the next entry from the
 * event log, and asks auth for those that the event log did not bring.
 */
export function createAccountLogReader({ repository, accounts, onClosed }: AccountLogReaderDeps) {
  /** The new position; undefined when another instance was faster. */
  const take = async (from: AccountLogPosition, entry: AccountDeleted): Promise<AccountLogPosition | undefined> => {
    if (!(await repository.close(from, entry))) return undefined;
    onClosed();
    return { epoch: entry.epoch, sequence: entry.sequence };
  };

  return {
    /** Takes an entry from the event log if it is the next one; otherwise `catchUp` finds it. */
    async hear(entry: AccountDeleted): Promise<void> {
      const position = await repository.position();
      const isNext = entry.epoch === position.epoch && entry.sequence === position.sequence + 1;
      if (isNext) await take(position, entry);
    },

    /** Asks auth until there are no more entries. */
    async catchUp(): Promise<void> {
      for (;;) {
        const position = await repository.position();
        const { epoch, head, changes } = await accounts.accountChanges(position);
        if (epoch === position.epoch && head === position.sequence) return;
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
