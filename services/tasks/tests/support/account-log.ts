import type { AccountDeleted, AccountsInternal } from '@taskmesh/internal-api';

/** Auth's log of deleted accounts. */
export interface TestAccountLog {
  accounts: AccountsInternal;
  /** Simulates that auth is unavailable. */
  isUnavailable: boolean;
  /** The number of requests. */
  requests: number;
  delete(accountId: string): void;
  /** Simulates a failover that lost the last entries. */
  lose(count: number): void;
}

export function createAccountLog(): TestAccountLog {
  const epoch = 5;
  const entries: AccountDeleted[] = [];
  const log: TestAccountLog = {
    isUnavailable: false,
    requests: 0,
    accounts: {
      async accountChanges(after) {
        log.requests++;
        if (log.isUnavailable) throw new Error('auth is away');
        const isOurs = after.epoch === epoch && after.sequence <= entries.length;
        const behind = isOurs ? after.sequence : 0;
        return { epoch, head: entries.length, changes: entries.slice(behind, behind + 3) };
      },
    },
    delete(accountId) {
      entries.push({
        ...{ kind: 'DELETED', epoch, sequence: entries.length + 1, accountId },
        occurredAt: '2026-11-20T10:00:00.000Z',
      });
    },
    lose: (count) => void entries.splice(-count),
  };
  return log;
}
