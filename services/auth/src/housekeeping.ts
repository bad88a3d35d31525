import type { Database, Statement } from '@taskmesh/database';
import { type Clock, createPeriodic, type Log, type Service } from '@taskmesh/service';
import { IS_HOUSEKEEPING } from './audit/audit.statements.ts';
import {
  BATCH,
  EMAIL_TOKENS,
  ENDED_SESSIONS,
  ENTRIES_OF_DELETED,
  OLD_ENTRIES,
  OLD_FREQUENT_ENTRIES,
  PENDING_SIGN_INS,
  PERSONAL_TOKENS,
  RESET_TOKENS,
  SESSIONS,
  SIGN_IN_CODES,
  STRANGERS_ENTRIES,
} from './housekeeping.statements.ts';
import { forgottenBefore } from './sessions/ended-session.repository.ts';

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
/** Longer than any request that was running at the deletion. */
const DELETED_SINCE_DAYS = 1;
/** Failed logins and refreshed sessions are many, and useful only for a while. */
const FREQUENT_RETENTION_DAYS = 30;

export interface Housekeeping extends Service {
  /**
   * Removes what is no longer needed, batch by batch: expired sessions with their refresh tokens, ended ones whose tokens
   * have expired, old tokens from mails, unfinished sign-ins, and entries of the audit trail that are older than its
   * retention or belong to deleted accounts.
   */
  sweep(): Promise<void>;
}

export interface HousekeepingDeps {
  database: Database;
  auditRetentionDays: number;
  clock: Clock;
  log: Log;
}

export function createHousekeeping({ database, auditRetentionDays, clock, log }: HousekeepingDeps): Housekeeping {
  let isStopped = false;

  const inBatches = async (removeBatch: () => Promise<number>): Promise<void> => {
    while (!isStopped && (await removeBatch()) === BATCH);
  };

  const removeExpired = (statement: Statement, moment: Date) =>
    inBatches(async () => (await database.run('read', statement, [moment])).length);

  const removeEntries = (text: string, parameters: unknown[]) =>
    inBatches(() =>
      database.retry((fork) =>
        fork.transactional(async (em) => {
          const [connection, transaction] = [em.getConnection(), em.getTransactionContext()];
          await connection.execute(IS_HOUSEKEEPING, [], 'run', transaction);
          return (await connection.execute(text, parameters, 'all', transaction)).length;
        }),
      ),
    );

  const sweep = async () => {
    const before = (days: number) => new Date(clock.now() - days * DAY_MS);
    await removeExpired(ENDED_SESSIONS, forgottenBefore(clock.now()));
    await removeExpired(SESSIONS, before(0));
    await removeExpired(RESET_TOKENS, before(0));
    await removeExpired(EMAIL_TOKENS, before(0));
    await removeExpired(PERSONAL_TOKENS, before(0));
    await removeEntries(ENTRIES_OF_DELETED, [before(DELETED_SINCE_DAYS)]);
    await removeExpired(PENDING_SIGN_INS, before(0));
    await removeExpired(SIGN_IN_CODES, before(0));
    await removeEntries(OLD_ENTRIES, [before(auditRetentionDays)]);
    await removeEntries(OLD_FREQUENT_ENTRIES, [before(Math.min(auditRetentionDays, FREQUENT_RETENTION_DAYS))]);
    await removeEntries(STRANGERS_ENTRIES, []);
  };

  const periodic = createPeriodic({ everyMs: EVERY_MS, task: sweep, what: 'housekeeping', log });

  return {
    sweep,
    start() {
      periodic.start({ afterPause: true });
      return Promise.resolve();
    },
    async stop() {
      isStopped = true;
      await periodic.stop();
    },
  };
}
