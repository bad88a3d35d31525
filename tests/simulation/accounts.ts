import { ACCOUNTS_TOPIC, encodeAccountDeleted, type AccountDeleted } from '@taskmesh/contracts';
import type { AccountsInternal } from '@taskmesh/internal-api';
import type { EventLog } from '@taskmesh/event-log';

const FIRST_EPOCH = 5;
/** So few that there are several pages. */
const MOST = 2;

/** The account log of auth, which is published to the event log as well. */
export function createAccounts(eventLog: EventLog) {
  let epoch = FIRST_EPOCH;
  const ids: string[] = [];
  const entries = (): AccountDeleted[] =>
    ids.map((accountId, index) => ({
      ...{ kind: 'DELETED', epoch, sequence: index + 1, accountId },
      occurredAt: '2026-01-01T00:00:00.000Z',
    }));
  const publish = (entries: AccountDeleted[]) =>
    void eventLog.publish(
      ACCOUNTS_TOPIC,
      entries.map((entry) => ({ key: entry.accountId, value: encodeAccountDeleted(entry) })),
    );

  return {
    deleted: (): readonly string[] => ids,
    delete(accountId: string) {
      if (ids.includes(accountId)) return;
      ids.push(accountId);
      publish(entries().slice(-1));
    },
    /** As behind a restore of what auth keeps. */
    beginEpoch() {
      epoch++;
      publish(entries());
    },
    internal: {
      async accountChanges(after) {
        const isOurs = after.epoch === epoch && after.sequence <= ids.length;
        const behind = isOurs ? after.sequence : 0;
        return { epoch, head: ids.length, changes: entries().slice(behind, behind + MOST) };
      },
    } satisfies AccountsInternal,
  };
}
