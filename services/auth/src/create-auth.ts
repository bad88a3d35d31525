import { asUnavailable, createSchemaGate } from '@taskmesh/database';
import type {
  AccountsInternal,
  AuthInternal,
  AuthRestore,
  AuthSignIn,
  ServiceStatus,
  StatusOf,
} from '@taskmesh/internal-api';
import type { KeyValue } from '@taskmesh/key-value';
import { createMailer, type Mailer } from '@taskmesh/mail';
import type { EventLog } from '@taskmesh/messaging';
import {
  closeOnStop,
  inOrder,
  type Clock,
  type HealthReport,
  type Ids,
  type Log,
  type Service,
} from '@taskmesh/service';
import { createSubgraph, type Subgraph } from '@taskmesh/subgraph';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { v7 } from 'uuid';
import { watchAccountLog } from './account-log/account-log.metrics.ts';
import { createAccountLogRepository } from './account-log/account-log.repository.ts';
import { createAccountLogService } from './account-log/account-log.service.ts';
import { createAccountRelay } from './account-log/account-relay.ts';
import { beginNewAccountEpoch } from './account-log/new-epoch.ts';
import { createAccountRepository } from './accounts/account.repository.ts';
import { createAccountService } from './accounts/account.service.ts';
import { createAccountsResolvers } from './accounts/accounts.resolvers.ts';
import { createLoginService } from './accounts/login.service.ts';
import { createPasswordCheckService } from './accounts/password-check.service.ts';
import { createAuditRepository } from './audit/audit.repository.ts';
import { createAuditResolvers } from './audit/audit.resolvers.ts';
import { createAuditService } from './audit/audit.service.ts';
import { createChangesOutbox } from './changes/changes-outbox.ts';
import { createChangeRepository } from './changes/change.repository.ts';
import { createChangesResolvers } from './changes/changes.resolvers.ts';
import { createEmailChangeService } from './changes/email-change.service.ts';
import { createPasswordChangeService } from './changes/password-change.service.ts';
import { createProfileService } from './changes/profile.service.ts';
import type { AuthConfig } from './config.ts';
import { createAuthDatabase } from './database.ts';
import { createDeletionRepository } from './deletion/deletion.repository.ts';
import { createDeletionResolvers } from './deletion/deletion.resolvers.ts';
import { createDeletionService } from './deletion/deletion.service.ts';
import { createResolvers } from './graphql/resolvers.ts';
import { readTypeDefs } from './graphql/schema.ts';
import { createHousekeepingRepository } from './housekeeping.repository.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createLoginStrategy, createProviderStrategy } from './passport.ts';
import { createAccountsImport } from './import/create-accounts-import.ts';
import { createKeyRing } from './keys/key-ring.ts';
import { createAuthMetrics } from './metrics.ts';
import { createMailWorker, type Letter, type Outbox } from './mails/mail-worker.ts';
import { readCommonPasswords } from './passwords/common-passwords.ts';
import { createHasher } from './passwords/hasher.ts';
import { createPasswordRules } from './passwords/password-rules.ts';
import { createBrowserSignInService } from './oidc/browser-sign-in.service.ts';
import { createLinkedIdentityService } from './oidc/linked-identity.service.ts';
import { createOidcRepository } from './oidc/oidc.repository.ts';
import { createOidcResolvers } from './oidc/oidc.resolvers.ts';
import { createProviderSignInService } from './oidc/provider-sign-in.service.ts';
import { createProvider } from './oidc/provider.ts';
import { createPersonalTokenRepository } from './personal-tokens/personal-token.repository.ts';
import { createPersonalTokenService } from './personal-tokens/personal-token.service.ts';
import { createPersonalTokensResolvers } from './personal-tokens/personal-tokens.resolvers.ts';
import { createLimits } from './rate-limits.ts';
import { createRecoveryOutbox } from './recovery/recovery-outbox.ts';
import { createRecoveryRepository } from './recovery/recovery.repository.ts';
import { createRecoveryService } from './recovery/recovery.service.ts';
import { createSessionMaker } from './sessions/new-session.ts';
import { createOwnSessionService } from './sessions/own-session.service.ts';
import { createSessionRepository } from './sessions/session.repository.ts';
import { createSessionService } from './sessions/session.service.ts';
import { createSessionsResolvers } from './sessions/sessions.resolvers.ts';
import { createAuthStatus } from './status.ts';

export interface AuthDeps {
  clock: Clock;
  /** @default time-ordered UUIDs */
  ids?: Ids;
  log: Log;
  /** Where limits are counted; whoever created it closes it. */
  keyValue: KeyValue;
  /** Where deletions of accounts are published; the caller closes it. Absent: other services have to ask for them. */
  eventLog?: EventLog | undefined;
  metrics?: Registry;
  /** Replaces the configured mailer; closed on `stop`. */
  mailer?: Mailer;
}

export interface Auth extends Service {
  subgraph: Subgraph;
  internal: AuthInternal;
  /** For tasks alone. */
  accounts: AccountsInternal;
  /** For browsers on their way to the sign-in provider and back. */
  signIn: AuthSignIn;
  /** For operators; the caller checks that. */
  operators: StatusOf<ServiceStatus>;
  /** For backup alone. */
  restore: AuthRestore;
  ready(): Promise<HealthReport>;
  /** Does the background work now: sends due mails and clears expired data. */
  processAll(): Promise<void>;
}

/** Does not connect: `start` prepares the schema and begins background work. Does not listen. */
export async function createAuth(config: AuthConfig, deps: AuthDeps): Promise<Auth> {
  const { clock, ids = { next: () => v7() }, log, keyValue, eventLog } = deps;
  const metrics = createAuthMetrics(deps.metrics);
  const database = await createAuthDatabase({ url: config.secrets.postgresUrl, log });
  if (deps.metrics) database.measure(deps.metrics);
  const keys = createKeyRing({
    file: config.accessTokenKeysFile ?? join(config.dataDir, 'keys', 'access-token-keys.json'),
    create: config.accessTokenKeysFile === undefined,
    log,
  });
  const mailSettings = { smtpUrl: config.secrets.smtpUrl, from: config.mailFrom, dataDir: config.dataDir };
  const mailer = deps.mailer ?? createMailer(mailSettings, { clock, ids });
  const hasher = createHasher({ concurrency: config.hashConcurrency, onHashed: metrics.hashed });
  metrics.watchQueue(hasher.waiting);
  const rules = createPasswordRules({ minLength: config.passwordMinLength, common: readCommonPasswords() });
  const { accessTokenTtlSeconds, refreshTokenTtlDays, publicUrl } = config;
  const maker = createSessionMaker({ accessTokenTtlSeconds, refreshTokenTtlDays, clock, ids, keys });

  const repository = createAccountRepository(database);
  const limits = createLimits({ keyValue, factor: config.rateLimitFactor, signInIps: repository.signInIps });
  const sessionRepository = createSessionRepository(database);
  const sessions = createSessionService({
    ...{ repository: sessionRepository, maker, limits, clock },
    mostPerAccount: config.maxSessionsPerAccount,
  });
  const ownSessions = createOwnSessionService({ repository: sessionRepository, clock });
  const accounts = createAccountService({ accounts: repository, sessions: maker, hasher, rules, limits, clock, ids });
  const authenticate = createLoginStrategy(accounts.checkPassword);
  const logins = createLoginService({
    ...{ accounts: repository, sessions, limits, clock, log },
    ...{ authenticate, upgradeHash: accounts.upgradeHash },
  });
  const requests = createRecoveryRepository(database);
  const workerFor = <Waiting extends Letter>(outbox: Outbox<Waiting>) =>
    createMailWorker({ outbox, mailer, clock, log, onAttempt: metrics.mail });
  const worker = workerFor(createRecoveryOutbox({ repository: requests, publicUrl, clock }));
  const recovery = createRecoveryService({
    repository: requests,
    hasher,
    rules,
    limits,
    clock,
    ids,
    onRequested: worker.wake,
  });
  const changed = createChangeRepository(database);
  const changesWorker = workerFor(createChangesOutbox({ repository: changed, publicUrl, clock }));
  const check = createPasswordCheckService({ accounts: repository, hasher, limits, clock });
  const changing = { repository: changed, check, limits, clock, ids, onMail: changesWorker.wake };
  const changes = {
    profiles: createProfileService({ repository: changed, clock }),
    passwords: createPasswordChangeService({ ...changing, hasher, rules }),
    emails: createEmailChangeService(changing),
  };
  const accountLog = createAccountLogRepository(database);
  const relay = eventLog && createAccountRelay({ repository: accountLog, eventLog, log });
  if (relay && deps.metrics) watchAccountLog(deps.metrics, accountLog);
  const deletion = createDeletionService({
    ...{ repository: createDeletionRepository(database), check, limits, clock, ids },
    ...{ onMail: changesWorker.wake, onDeleted: () => relay?.wake() },
  });
  const tokenRepository = createPersonalTokenRepository(database);
  const personalTokens = createPersonalTokenService({ repository: tokenRepository, limits, clock, ids });
  const { oidc } = config;
  const provider =
    oidc &&
    createProvider({
      ...{ config: oidc, clientSecret: config.secrets.oidcClientSecret, clock, log },
      strategyFor: (configuration) =>
        createProviderStrategy({
          configuration,
          callbackUrl: `${publicUrl}/api/auth/oidc/callback`,
          scopes: oidc.scopes,
        }),
    });
  const identities = createOidcRepository(database);
  const signingIn = { repository: identities, check, limits, clock, ids, onMail: changesWorker.wake };
  const housekeeping = createHousekeeping({
    repository: createHousekeepingRepository(database),
    auditRetentionDays: config.auditRetentionDays,
    ...{ clock, log },
  });

  const schema = createSchemaGate({ database, policy: config.schema, log });
  const parts = inOrder([
    keys,
    closeOnStop(() => database.close()),
    schema,
    closeOnStop(() => mailer.close()),
    closeOnStop(() => hasher.close()),
    ...[worker, changesWorker, housekeeping],
    ...(relay ? [relay] : []),
  ]);

  const subgraph = createSubgraph({
    name: 'auth',
    typeDefs: readTypeDefs(),
    resolvers: createResolvers(
      {
        accounts: createAccountsResolvers({ accounts, logins, sessions, recovery }),
        audit: createAuditResolvers(createAuditService(createAuditRepository(database))),
        changes: createChangesResolvers(changes),
        deletion: createDeletionResolvers(deletion),
        oidc: createOidcResolvers({
          providerName: provider?.name,
          signIns: createProviderSignInService({ ...signingIn, accounts: repository, sessions }),
          identities: createLinkedIdentityService(signingIn),
        }),
        personalTokens: createPersonalTokensResolvers(personalTokens),
        sessions: createSessionsResolvers(ownSessions),
      },
      metrics.mutation,
    ),
    mapError: asUnavailable,
    log,
  });

  return {
    subgraph: {
      ...subgraph,
      execute(request, call) {
        if (call.isBackground) hasher.giveWay();
        return subgraph.execute(request, call);
      },
    },
    internal: {
      endedSessions: sessions.endedSessions,
      async noteSessionUses(uses) {
        await sessionRepository.noteUses(uses);
        await tokenRepository.noteUses(uses);
      },
      findPersonalToken: personalTokens.find,
      accessTokenKeys: () => Promise.resolve(keys.verifyingKeys()),
    },
    accounts: createAccountLogService(accountLog),
    signIn: createBrowserSignInService({ provider, repository: identities, limits, clock, log }),
    operators: createAuthStatus({ database, clock }),
    restore: createAccountsImport({
      url: config.secrets.postgresUrl,
      databaseAt: (url) => createAuthDatabase({ url, name: 'auth-import', log }),
      clock,
      log,
      newEpoch: () => beginNewAccountEpoch(accountLog, clock.now()),
    }),
    async ready() {
      const isUp = await database.isUp();
      const isFit = schema.isOpen();
      return { ok: isUp && isFit, checks: { database: isUp, schema: isFit, passwordsWaiting: hasher.waiting() } };
    },
    async processAll() {
      await worker.drain();
      await changesWorker.drain();
      await housekeeping.sweep();
    },
    ...parts,
  };
}
