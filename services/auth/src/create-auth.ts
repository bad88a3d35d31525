import { asUnavailable, createSchemaGate, storeHealth } from '@taskmesh/store';
import {
  createSubgraph,
  readTypeDefs,
  type AccountsInternal,
  type AuthInternal,
  type AuthRestore,
  type AuthSignIn,
  type ServiceStatus,
  type StatusOf,
  type Subgraph,
} from '@taskmesh/internal-api';
import { closeOnStop, inOrder, type HealthReport, type Service } from '@taskmesh/service';
import { createAccountLog } from './account-log/create-account-log.ts';
import { createAccountService } from './accounts/account.service.ts';
import { createAuditRepository } from './audit/audit.repository.ts';
import { createAuditService } from './audit/audit.service.ts';
import { createChangeRepository } from './changes/change.repository.ts';
import { createChangeService } from './changes/change.service.ts';
import { createChangesOutbox } from './changes/changes-outbox.ts';
import type { AuthConfig } from './config.ts';
import { createAuthDatabase } from './database.ts';
import { createDeletionService } from './deletion/deletion.service.ts';
import { createAuthResolvers } from './graphql/auth.resolvers.ts';
import { createHousekeepingRepository } from './housekeeping.repository.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createAccountsImport } from './import/create-accounts-import.ts';
import { createBrowserSignInService } from './oidc/browser-sign-in.service.ts';
import { createLinkedIdentityService } from './oidc/linked-identity.service.ts';
import { createOidcRepository } from './oidc/oidc.repository.ts';
import { createProvider } from './oidc/provider.ts';
import { createProviderSignInService } from './oidc/provider-sign-in.service.ts';
import { createPersonalTokenRepository } from './personal-tokens/personal-token.repository.ts';
import { createPersonalTokenService } from './personal-tokens/personal-token.service.ts';
import { createLoginStrategy } from './passport.ts';
import { createRecoveryOutbox } from './recovery/recovery-outbox.ts';
import { createRecoveryRepository } from './recovery/recovery.repository.ts';
import { createRecoveryService } from './recovery/recovery.service.ts';
import { createSessionMaker } from './sessions/new-session.ts';
import { createSessionRepository } from './sessions/session.repository.ts';
import { createSessionService } from './sessions/session.service.ts';
import { createCommonParts, type AuthDeps } from './common-parts.ts';
import { createAuthStatus } from './status.ts';

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
  const common = await createCommonParts(config, deps);
  const { database, keys, mailer, hasher, metrics, clock, log } = common;

  const { publicUrl, accessTokenTtlSeconds, refreshTokenTtlDays, maxSessionsPerAccount: mostPerAccount } = config;

  const sessionRepository = createSessionRepository(database);
  const maker = createSessionMaker({ ...common, accessTokenTtlSeconds, refreshTokenTtlDays });
  const sessions = createSessionService({ ...common, repository: sessionRepository, maker, mostPerAccount });
  const accounts = createAccountService({ ...common, maker, sessions, strategyOf: createLoginStrategy });

  const recoveryRepository = createRecoveryRepository(database);
  const recoveryMails = common.mailWorker(
    createRecoveryOutbox({ ...common, repository: recoveryRepository, publicUrl }),
  );
  const recovery = createRecoveryService({ ...common, repository: recoveryRepository });

  const changeRepository = createChangeRepository(database);
  const changeMails = common.mailWorker(createChangesOutbox({ ...common, repository: changeRepository, publicUrl }));
  const changes = createChangeService({ ...common, repository: changeRepository });

  const accountLog = createAccountLog(common, deps.eventLog);
  const deletion = createDeletionService(common);

  const oidcRepository = createOidcRepository(database);
  const linking = { ...common, repository: oidcRepository };
  const provider =
    config.oidc &&
    createProvider({
      ...{ ...common, config: config.oidc, clientSecret: config.secrets.oidcClientSecret },
      callbackUrl: `${publicUrl}/api/auth/oidc/callback`,
      isLinked: async (identity) => (await oidcRepository.findLinked(identity)) !== null,
    });

  const personalTokens = createPersonalTokenService({ ...common, repository: createPersonalTokenRepository(database) });
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
    ...[recoveryMails, changeMails, housekeeping],
    ...(accountLog.relay ? [accountLog.relay] : []),
  ]);

  const subgraph = createSubgraph({
    name: 'auth',
    typeDefs: readTypeDefs(import.meta.dirname),
    resolvers: createAuthResolvers({
      ...{ accounts, changes, deletion, recovery, sessions },
      audit: createAuditService(createAuditRepository(database)),
      identities: createLinkedIdentityService(linking),
      providerName: provider?.name,
      signIns: createProviderSignInService({ ...linking, sessions }),
      tokens: personalTokens,
      onMutation: metrics.mutation,
    }),
    mapError: asUnavailable,
    log,
  });

  return {
    subgraph,
    internal: {
      endedSessions: sessions.endedSessions,
      noteSessionUses: sessionRepository.noteUses,
      findPersonalToken: personalTokens.find,
      accessTokenKeys: () => Promise.resolve(keys.verifyingKeys()),
    },
    accounts: accountLog.service,
    signIn: createBrowserSignInService({ ...common, provider, repository: oidcRepository }),
    operators: createAuthStatus({
      database,
      relayFailingSeconds: () => accountLog.relay?.failingSeconds(),
      clock,
    }),
    restore: createAccountsImport({
      url: config.secrets.postgresUrl,
      databaseAt: (url) => createAuthDatabase({ url, name: 'auth-import', log }),
      clock,
      log,
      newEpoch: accountLog.newEpoch,
    }),
    ready: () => storeHealth(database, schema, { passwordsWaiting: hasher.waiting() }),
    async processAll() {
      await recoveryMails.drain();
      await changeMails.drain();
      await housekeeping.sweep();
    },
    ...parts,
  };
}
