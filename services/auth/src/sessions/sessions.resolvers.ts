import { requireSession, requireUser } from '@taskmesh/internal-api';
import { originOf } from '../graphql/context.ts';
import type { FeatureResolvers } from '../graphql/feature-resolvers.ts';
import { tellEnded } from '../graphql/session-extensions.ts';
import type { OwnSessionService } from './own-session.service.ts';

export function createSessionsResolvers(sessions: OwnSessionService) {
  return {
    Query: {
      sessions: (_parent, _args, { identity }) => sessions.list(requireUser(identity)),
    },
    Mutation: {
      endSession: async (_parent, { id }, context) => {
        const session = await sessions.end(requireSession(context.identity), id, originOf(context));
        tellEnded(context, session.ended);
        return session.id;
      },
      endOtherSessions: async (_parent, _args, context) => {
        const { count, ended } = await sessions.endOthers(requireSession(context.identity), originOf(context));
        tellEnded(context, ended);
        return count;
      },
    },
    OpenSession: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      lastUsedAt: ({ lastUsedAt }) => lastUsedAt.toISOString(),
    },
  } satisfies FeatureResolvers;
}
