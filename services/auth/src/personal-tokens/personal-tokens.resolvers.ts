import { requireSession, requireUser } from '@taskmesh/internal-api';
import { originOf, tellEnded, type FeatureResolvers } from '../graphql/context.ts';
import type { PersonalTokenService } from './personal-token.service.ts';

export function createPersonalTokensResolvers(tokens: PersonalTokenService) {
  return {
    Query: {
      personalTokens: (_parent, _args, { identity }) => tokens.list(requireUser(identity).userId),
    },
    Mutation: {
      createPersonalToken: (_parent, { input }, context) => {
        const user = requireSession(context.identity);
        return tokens.create(user, { ...input, scope: input.scope.toLowerCase() }, originOf(context));
      },
      endPersonalToken: async (_parent, { id }, context) => {
        const token = await tokens.end(requireSession(context.identity), id, originOf(context));
        tellEnded(context, token.ended);
        return token.id;
      },
    },
    PersonalToken: {
      scope: ({ scope }) => (scope === 'read' ? 'READ' : 'WRITE'),
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      expiresAt: ({ expiresAt }) => expiresAt.toISOString(),
      lastUsedAt: ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? null,
    },
  } satisfies FeatureResolvers;
}
