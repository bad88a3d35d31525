import { AppError } from '@taskmesh/contracts';
import type { createAccountsResolvers } from '../accounts/accounts.resolvers.ts';
import type { createAuditResolvers } from '../audit/audit.resolvers.ts';
import type { createChangesResolvers } from '../changes/changes.resolvers.ts';
import type { createDeletionResolvers } from '../deletion/deletion.resolvers.ts';
import type { createOidcResolvers } from '../oidc/oidc.resolvers.ts';
import type { createPersonalTokensResolvers } from '../personal-tokens/personal-tokens.resolvers.ts';
import type { createSessionsResolvers } from '../sessions/sessions.resolvers.ts';
import type { MutationResolvers, Resolvers } from './types.generated.ts';

/** Reports each mutation's outcome: `ok`, the code of an expected failure, or INTERNAL_SERVER_ERROR. */
function watchMutations(
  mutations: MutationResolvers,
  onMutation: (name: string, outcome: string) => void,
): MutationResolvers {
  const watched = Object.entries(mutations).map(([name, resolver]) => {
    const resolve = (typeof resolver === 'function' ? resolver : resolver.resolve) as (...args: unknown[]) => unknown; // passed on unchanged
    return [
      name,
      async (...args: unknown[]) => {
        try {
          const result = await resolve(...args);
          onMutation(name, 'ok');
          return result;
        } catch (error) {
          onMutation(name, error instanceof AppError ? error.code : 'INTERNAL_SERVER_ERROR');
          throw error;
        }
      },
    ];
  });
  return Object.fromEntries(watched) as MutationResolvers; // the same names and signatures
}

export interface Features {
  accounts: ReturnType<typeof createAccountsResolvers>;
  audit: ReturnType<typeof createAuditResolvers>;
  changes: ReturnType<typeof createChangesResolvers>;
  deletion: ReturnType<typeof createDeletionResolvers>;
  oidc: ReturnType<typeof createOidcResolvers>;
  personalTokens: ReturnType<typeof createPersonalTokensResolvers>;
  sessions: ReturnType<typeof createSessionsResolvers>;
}

/** Combines the features' resolvers; `onMutation` gets each mutation's outcome: `ok` or the error's code. */
export function createResolvers(
  { accounts, audit, changes, deletion, oidc, personalTokens, sessions }: Features,
  onMutation: (name: string, outcome: string) => void,
): Resolvers {
  return {
    ...accounts,
    ...audit,
    ...oidc,
    ...personalTokens,
    ...sessions,
    Query: { ...accounts.Query, ...audit.Query, ...oidc.Query, ...personalTokens.Query, ...sessions.Query },
    Mutation: watchMutations(
      {
        ...accounts.Mutation,
        ...changes.Mutation,
        ...deletion.Mutation,
        ...oidc.Mutation,
        ...personalTokens.Mutation,
        ...sessions.Mutation,
      },
      onMutation,
    ),
  };
}
