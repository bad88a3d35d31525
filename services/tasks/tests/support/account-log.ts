import type { AccountDeleted, AccountsInternal } from '@taskmesh/internal-api';

/** Auth's log of deleted accounts. */
export function createAccountLog() {
  const epoch = 5;
  const entries: AccountDeleted[] = [];
  const accountChanges: AccountsInternal['accountChanges'] = async (after) => {
    log.requests++;
    if (log.isUnavailable) throw new Error('auth is away');
    const behind = after.epoch === epoch && after.sequence <= entries.length ? after.sequence : 0;
    return { epoch, head: entries.length, changes: entries.slice(behind, behind + 3) };
  };
  const log = {
    accounts: { accountChanges },
    /** Simulates that auth is unavailable. */
    isUnavailable: false,
    /** The number of requests. */
    requests: 0,
    delete(accountId: string) {
      const occurredAt = '2026-11-20T10:00:00.000Z';
      entries.push({ kind: 'DELETED', epoch, sequence: entries.length + 1, accountId, occurredAt });
    },
    /** Simulates a failover that lost the last entries. */
    lose: (count: number) => void entries.splice(-count),
  };
  return log;
}
