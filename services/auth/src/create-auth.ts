import { asUnavailable, createSchemaGate, createServiceStatus, storeHealth } from '@taskmesh/store';
import { createSubgraph, readTypeDefs, STATUS_PART_MS } from '@taskmesh/internal-api';
import { closeOnStop, inOrder, type HealthReport } from '@taskmesh/service';
import { createAccountLog } from './account-log/create-account-log.ts';
import { createAccountService } from './accounts/account.service.ts';
import { createChangeService } from './changes/change.service.ts';
import type { AuthConfig } from './config.ts';
import { createAuthDatabase } from './database.ts';
import { createAuthResolvers } from './graphql/auth.resolvers.ts';
import { createHousekeepingRepository } from './housekeeping.repository.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createAccountsImport } from './import/create-accounts-import.ts';
import { createMailWorker, type QueuedMail, type Outbox } from './mails/mail-worker.ts';
import { createChangesOutbox, createRecoveryOutbox } from './mails/outboxes.ts';
import { createBrowserSignInService } from './oidc/browser-sign-in.service.ts';
import { createLinkedIdentityService } from './oidc/linked-identity.service.ts';
import { createProvider } from './oidc/provider.ts';
import { createProviderSignInService } from './oidc/provider-sign-in.service.ts';
import { createPersonalTokenService } from './personal-tokens/personal-token.service.ts';
import { createLoginStrategy } from './passport.ts';
import { createRecoveryService } from './recovery/recovery.service.ts';
import { createSessionMaker } from './sessions/new-session.ts';
import { createSessionRepository } from './sessions/session.repository.ts';
import { createSessionService } from './sessions/session.service.ts';
import { createCommonParts, type AuthDeps } from './common-parts.ts';

export type Auth = Awaited<ReturnType<typeof createAuth>>;

/** Neither connects nor listens: `start` prepares the schema and begins background work. */
export async function createAuth(config: AuthConfig, deps: AuthDeps) {
  const common = await createCommonParts(config, deps);
  const { database, keys, mailer, hasher, metrics, oidc, publicUrl, clock, log } = common;

  const { accessTokenTtlSeconds, refreshTokenTtlDays, maxSessionsPerAccount: maxPerAccount } = config;

  const sessionRepository = createSessionRepository(database);
  const maker = createSessionMaker({ ...common, accessTokenTtlSeconds, refreshTokenTtlDays });
  const sessions = createSessionService({ ...common, repository: sessionRepository, maker, maxPerAccount });
  const accounts = createAccountService({ ...common, maker, sessions, strategyOf: createLoginStrategy });

  const mailWorker = <Waiting extends QueuedMail>(outbox: Outbox<Waiting>) =>
    createMailWorker({ outbox, mailer, clock, log, onAttempt: metrics.mail });
  const recoveryMails = mailWorker(createRecoveryOutbox(common));
  const changeMails = mailWorker(createChangesOutbox(common));

  const accountLog = createAccountLog(common);
  const provider =
    config.oidc &&
    createProvider({
      ...{ ...common, config: config.oidc, clientSecret: config.secrets.oidcClientSecret },
      callbackUrl: `${publicUrl}/api/auth/oidc/callback`,
      isLinked: async (identity) => (await oidc.findLinked(identity)) !== null,
    });

  const personalTokens = createPersonalTokenService(common);
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
  ]);

  const subgraph = createSubgraph({
    name: 'auth',
    typeDefs: readTypeDefs(import.meta.dirname),
    resolvers: createAuthResolvers({
      ...{ accounts, sessions },
      changes: createChangeService(common),
      identities: createLinkedIdentityService(common),
      providerName: provider?.name,
      recovery: createRecoveryService(common),
      signIns: createProviderSignInService(common, sessions),
      tokens: personalTokens,
    }),
    mapError: asUnavailable,
    onMutation: metrics.mutation,
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
    /** Only for the tasks service. */
    accounts: accountLog.service,
    /** For browsers on their way to the sign-in provider and back. */
    signIn: createBrowserSignInService(common, provider),
    /** For operators; the caller checks that the client is one. */
    operators: { status: createServiceStatus({ database, clock }, STATUS_PART_MS) },
    /** Only for the backup service. */
    restore: createAccountsImport({
      url: config.secrets.postgresUrl,
      databaseAt: (url) => createAuthDatabase({ url, name: 'auth-import', log }),
      clock,
      log,
      newEpoch: accountLog.newEpoch,
    }),
    ready: (): Promise<HealthReport> => storeHealth(database, schema, { passwordsWaiting: hasher.waiting() }),
    /** Does the background work now: sends due mails and clears expired data. */
    async processAll(): Promise<void> {
      await recoveryMails.drain();
      await changeMails.drain();
      await housekeeping.sweep();
    },
    ...parts,
  };
}
