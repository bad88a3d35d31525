import type { AuthConfig } from '../config.ts';
import { createProviderStrategy } from '../passport.ts';
import type { SessionService } from '../sessions/session.service.ts';
import type { CommonParts } from '../common-parts.ts';
import { createBrowserSignInService } from './browser-sign-in.service.ts';
import { createLinkedIdentityService } from './linked-identity.service.ts';
import { createOidcRepository } from './oidc.repository.ts';
import { createOidcResolvers } from './oidc.resolvers.ts';
import { createProvider, type Subject } from './provider.ts';
import { createProviderSignInService } from './provider-sign-in.service.ts';

export interface OidcDeps {
  sessions: SessionService;
  /** Wakes the worker that sends mails about changes. */
  onMail: () => void;
}

/** Signing in at a provider; without one, there is none to send a browser to. */
export function createOidc(
  { oidc, publicUrl, secrets }: AuthConfig,
  common: CommonParts,
  { sessions, onMail }: OidcDeps,
) {
  const repository = createOidcRepository(common.database);
  const isLinked = async (identity: Subject) => (await repository.findLinked(identity)) !== null;
  const callbackUrl = `${publicUrl}/api/auth/oidc/callback`;
  const provider =
    oidc &&
    createProvider({
      ...{ config: oidc, clientSecret: secrets.oidcClientSecret, clock: common.monotonicClock, log: common.log },
      strategyFor: (configuration) => createProviderStrategy({ configuration, callbackUrl, isLinked }),
    });
  const linking = { ...common, repository, onMail };
  return {
    browserSignIn: createBrowserSignInService({ ...common, provider, repository }),
    resolvers: createOidcResolvers({
      providerName: provider?.name,
      signIns: createProviderSignInService({ ...linking, sessions }),
      identities: createLinkedIdentityService(linking),
    }),
  };
}
