import { ACCOUNTS_TOPIC, encodeAccountDeleted, type AccountDeleted } from '@taskmesh/contracts';
import type { AccountsInternal } from '@taskmesh/internal-api';
import type { EventLog } from '@taskmesh/event-log';

/** Auth's log of deleted accounts, which can be read and published. */
export interface TestAccountLog {
  accounts: AccountsInternal;
  /** Simulates that auth is unavailable. */
  isUnavailable: boolean;
  /** The number of requests. */
  requests: number;
  delete(accountId: string): AccountDeleted;
  /** Simulates a reset: begins another epoch with these entries. */
  restart(accountIds: string[]): void;
  publish(eventLog: EventLog, ...entries: AccountDeleted[]): Promise<void>;
}

export function createAccountLog(): TestAccountLog {
  let epoch = 5;
  let entries: AccountDeleted[] = [];
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
      const entry: AccountDeleted = {
        ...{ kind: 'DELETED', epoch, sequence: entries.length + 1, accountId },
        occurredAt: '2026-11-20T10:00:00.000Z',
      };
      entries.push(entry);
      return entry;
    },
    restart(accountIds) {
      epoch++;
      entries = [];
      for (const id of accountIds) log.delete(id);
    },
    publish: (eventLog, ...entries) =>
      eventLog.publish(
        ACCOUNTS_TOPIC,
        entries.map((entry) => ({ key: entry.accountId, value: encodeAccountDeleted(entry) })),
      ),
  };
  return log;
}
