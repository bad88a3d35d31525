import { requireSession, requireUser } from '@taskmesh/internal-api';
import { openingOf, originOf, tellOpened, type FeatureResolvers } from '../graphql/context.ts';
import type { LinkedIdentityService } from './linked-identity.service.ts';
import type { ProviderSignInService } from './provider-sign-in.service.ts';

export interface OidcResolversDeps {
  /** What people call the provider; undefined when there is none. */
  providerName: string | undefined;
  signIns: ProviderSignInService;
  identities: LinkedIdentityService;
}

export function createOidcResolvers({ providerName, signIns, identities }: OidcResolversDeps) {
  return {
    Query: {
      signInProvider: () => (providerName === undefined ? null : { name: providerName }),
      linkedIdentities: (_parent, _args, { identity }) => identities.list(requireUser(identity).userId),
    },
    Mutation: {
      signInWithCode: async (_parent, { input }, context, info) =>
        tellOpened(context, await signIns.signIn(input, openingOf(context, info))),
      linkIdentity: (_parent, { input }, context) =>
        identities.link(requireSession(context.identity), input, originOf(context)),
      unlinkIdentity: (_parent, { id }, context) =>
        identities.unlink(requireSession(context.identity), id, originOf(context)),
    },
    LinkedIdentity: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      lastUsedAt: ({ lastUsedAt }) => lastUsedAt.toISOString(),
    },
  } satisfies FeatureResolvers;
}
