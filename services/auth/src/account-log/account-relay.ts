import { createWorkerHealth, keepWorking } from '@taskmesh/store';
import { ACCOUNTS_TOPIC, encodeAccountDeleted } from '@taskmesh/contracts';
import type { EventLog } from '@taskmesh/event-log';
import { backoffMs, pause, type Backoff, type Log } from '@taskmesh/service';
import type { AccountLogLease, AccountLogRepository } from './account-log.repository.ts';

const POLL_MS = 500;
const BATCH_SIZE = 500;
const BACKOFF: Backoff = { firstMs: 100, maxMs: 5_000 };

export interface AccountRelayDeps {
  repository: Pick<AccountLogRepository, 'openLease'>;
  eventLog: EventLog;
  log: Log;
}

/**
 * Publishes the account log to the event log, in order and at least once. Only the instance that holds the lock publishes.
 * Entries are small and all alike, so the event log has no reason to reject one permanently: each is retried until accepted.
 */
export function createAccountRelay({ repository, eventLog, log }: AccountRelayDeps) {
  const health = createWorkerHealth();
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  /** Creates the topic with a single partition, which keeps all entries in order. */
  const makeTopic = (): Promise<boolean> =>
    eventLog.ensureTopic(ACCOUNTS_TOPIC, { partitions: 1, signal: stopping.signal }).then(
      () => true,
      () => false, // publishing fails, and is logged, until the topic exists
    );

  const work = async (lease: AccountLogLease, onRound: () => void): Promise<void> => {
    let [isOurs, hasTopic, failures, limit] = [false, false, 0, 1]; // one until a mark succeeds: it may be published again
    while (!stopping.signal.aborted) {
      isOurs ||= await lease.claim();
      hasTopic ||= isOurs && (await makeTopic());
      const entries = isOurs ? await lease.unpublished(limit) : [];
      const last = entries.at(-1);
      if (!last || failures > 0) onRound(); // other entries first have to be marked, or the pauses would not grow
      if (!last) {
        await pause(POLL_MS, stopping.signal);
        continue;
      }
      if (!lease.isSafe()) continue;
      try {
        await eventLog.publish(
          ACCOUNTS_TOPIC,
          entries.map((entry) => ({ key: entry.accountId, value: encodeAccountDeleted(entry) })),
        );
      } catch (error) {
        if (failures++ === 0)
          log.warn({ err: error }, 'cannot publish what became of accounts; trying again until it works');
        hasTopic = false; // an event log may lose everything, including the topic
        await pause(backoffMs(failures, BACKOFF), stopping.signal);
        continue;
      }
      failures = 0;
      await lease.markPublished(last.sequence);
      limit = BATCH_SIZE;
    }
  };

  return {
    async start() {
      stopping = new AbortController();
      running = keepWorking({
        signal: stopping.signal,
        open: repository.openLease,
        work,
        close: (lease) => lease.close(),
        pause: (ms) => pause(ms, stopping.signal),
        health,
        what: 'the relay of the account log',
        log,
      });
    },
    async stop() {
      stopping.abort();
      await running;
    },
    /** How long the relay has been unable to read or mark entries; undefined while it can. */
    failingSeconds: health.failingSeconds,
  };
}
