import type { AccountDeleted } from '@taskmesh/events';
import type { AccountLogPosition, AccountsInternal } from '@taskmesh/internal-api';
import type { OwnersRepository } from './owners.repository.ts';

export interface AccountLogReaderDeps {
  repository: Pick<OwnersRepository, 'position' | 'close' | 'move'>;
  accounts: AccountsInternal;
  /** Told after each owner that was closed. */
  onClosed: () => void;
}

/**
 * Follows auth's account log, each entry once, in its order, by the position in our own store. What the event log brings is
 * taken when it is the next entry; what it does not bring is asked for.
 */
export function createAccountLogReader({ repository, accounts, onClosed }: AccountLogReaderDeps) {
  /** Where to go on; undefined when another instance was faster. */
  const take = async (from: AccountLogPosition, entry: AccountDeleted): Promise<AccountLogPosition | undefined> => {
    if (!(await repository.close(from, entry))) return undefined;
    onClosed();
    return { epoch: entry.epoch, sequence: entry.sequence };
  };

  return {
    /** An entry that the event log has brought. One out of turn is passed over: `catchUp` finds what there is. */
    async hear(entry: AccountDeleted): Promise<void> {
      const position = await repository.position();
      const isNext = entry.epoch === position.epoch && entry.sequence === position.sequence + 1;
      if (isNext) await take(position, entry);
    },

    /** Asks until there is nothing more. */
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
