import type { KeyValue } from '@taskmesh/key-value';
import { createMailer, type Mailer } from '@taskmesh/mail';
import { monotonicClock, timeOrderedIds as ids, type Clock, type Log } from '@taskmesh/service';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { accountTransactionsOf } from './accounts/account-transaction.repository.ts';
import { createAccountRepository } from './accounts/account.repository.ts';
import { createPasswordCheckService } from './accounts/password-check.service.ts';
import type { AuthConfig } from './config.ts';
import { createAuthDatabase } from './database.ts';
import { createKeyRing } from './keys/key-ring.ts';
import { createMailRepository } from './mails/mail.repository.ts';
import { createOidcRepository } from './oidc/oidc.repository.ts';
import { createAuthMetrics } from './metrics.ts';
import { createHasher, type HashCost } from './passwords/hasher.ts';
import { createPasswordRules, readCommonPasswords } from './passwords/password-rules.ts';
import { createLimits } from './rate-limits.ts';

export interface AuthDeps {
  clock: Clock;
  /** Measures durations. @default the process's monotonic clock */
  monotonicClock?: Clock;
  log: Log;
  /** Where limits are counted; the caller closes it. */
  keyValue: KeyValue;
  metrics?: Registry;
  /** The cost of a password hash; tests lower it. @default OWASP's parameters */
  hashCost?: HashCost;
  /** Replaces the configured mailer; closed on `stop`. */
  mailer?: Mailer;
}

export type CommonParts = Awaited<ReturnType<typeof createCommonParts>>;

/** The dependencies that the features of auth share. */
export async function createCommonParts(config: AuthConfig, deps: AuthDeps) {
  const { clock, log, keyValue, metrics: registry = new Registry() } = deps;
  const { dataDir, mailFrom: from, accessTokenKeysFile, hashConcurrency: concurrency, publicUrl, secrets } = config;
  const metrics = createAuthMetrics(registry);
  const database = await createAuthDatabase({ url: secrets.postgresUrl, log });
  database.measure(registry);
  const keys = createKeyRing({
    file: accessTokenKeysFile ?? join(dataDir, 'keys', 'access-token-keys.json'),
    create: accessTokenKeysFile === undefined,
    log,
  });
  const mailer = deps.mailer ?? createMailer({ smtpUrl: secrets.smtpUrl, from, dataDir }, { clock, ids, log });
  const accounts = createAccountRepository(database);
  const { findCostliestBcryptHash } = accounts;
  const hasher = createHasher({ concurrency, findCostliestBcryptHash, onHashed: metrics.hashed, cost: deps.hashCost });
  metrics.watchQueue(hasher.waiting);
  const rules = createPasswordRules({ minLength: config.passwordMinLength, common: readCommonPasswords() });
  const limits = createLimits({ keyValue, factor: config.rateLimitFactor, signInIps: accounts.signInIps });
  const check = createPasswordCheckService({ accounts, hasher, limits, clock });
  return {
    ...{ clock, monotonicClock: deps.monotonicClock ?? monotonicClock, ids, log, metrics, database, limits },
    inTransaction: accountTransactionsOf(database),
    ...{ keys, hasher, rules, accounts, check, mailer, publicUrl },
    ...{ mails: createMailRepository(database), oidc: createOidcRepository(database) },
  };
}
