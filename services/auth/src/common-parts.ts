import type { KeyValue } from '@taskmesh/key-value';
import { createMailer, type Mailer } from '@taskmesh/mail';
import type { EventLog } from '@taskmesh/event-log';
import { monotonicClock, timeOrderedIds as ids, type Clock, type Log } from '@taskmesh/service';
import { shareAmongOwners } from '@taskmesh/store';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { accountTransactionsOf } from './accounts/account-transaction.repository.ts';
import { createAccountRepository } from './accounts/account.repository.ts';
import { createPasswordCheckService } from './accounts/password-check.service.ts';
import type { AuthConfig } from './config.ts';
import { createAuthDatabase } from './database.ts';
import { createKeyRing } from './keys/key-ring.ts';
import { createMailWorker, type Letter, type Outbox } from './mails/mail-worker.ts';
import { createAuthMetrics } from './metrics.ts';
import { createHasher } from './passwords/hasher.ts';
import { createPasswordRules, readCommonPasswords } from './passwords/password-rules.ts';
import { createLimits } from './rate-limits.ts';

export interface AuthDeps {
  clock: Clock;
  /** For durations. @default that of the process */
  monotonicClock?: Clock;
  log: Log;
  /** Where limits are counted; the caller closes it. */
  keyValue: KeyValue;
  /** Where deletions of accounts are published; the caller closes it. Absent: other services have to ask for them. */
  eventLog?: EventLog | undefined;
  metrics?: Registry;
  /** Replaces the configured mailer; closed on `stop`. */
  mailer?: Mailer;
}

/** Of the ten connections, what the reads of one account may occupy. */
const PER_OWNER = 3;

export type CommonParts = Awaited<ReturnType<typeof createCommonParts>>;

/** What the features of auth work with. */
export async function createCommonParts(config: AuthConfig, deps: AuthDeps) {
  const { clock, log, keyValue, metrics: registry = new Registry() } = deps;
  const { dataDir, mailFrom: from, accessTokenKeysFile, hashConcurrency: concurrency, secrets } = config;
  const metrics = createAuthMetrics(registry);
  const whole = await createAuthDatabase({ url: secrets.postgresUrl, log });
  whole.measure(registry);
  const database = { ...whole, ...shareAmongOwners(whole, PER_OWNER) };
  const keys = createKeyRing({
    file: accessTokenKeysFile ?? join(dataDir, 'keys', 'access-token-keys.json'),
    create: accessTokenKeysFile === undefined,
    log,
  });
  const mailer = deps.mailer ?? createMailer({ smtpUrl: secrets.smtpUrl, from, dataDir }, { clock, ids, log });
  const accounts = createAccountRepository(database);
  const { findBcryptHash } = accounts;
  const hasher = createHasher({ concurrency, findBcryptHash, onHashed: metrics.hashed });
  metrics.watchQueue(hasher.waiting);
  const rules = createPasswordRules({ minLength: config.passwordMinLength, common: readCommonPasswords() });
  const limits = createLimits({ keyValue, factor: config.rateLimitFactor, signInIps: accounts.signInIps });
  const check = createPasswordCheckService({ accounts, hasher, limits, clock });
  const mailWorker = <Waiting extends Letter>(outbox: Outbox<Waiting>) =>
    createMailWorker({ outbox, mailer, clock, log, onAttempt: metrics.mail });
  return {
    ...{ clock, monotonicClock: deps.monotonicClock ?? monotonicClock, ids, log, registry, metrics, database, limits },
    inTransaction: accountTransactionsOf(database),
    ...{ keys, hasher, rules, accounts, check, mailer, mailWorker },
  };
}
