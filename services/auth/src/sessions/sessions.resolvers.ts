import { requireSession, requireUser } from '@taskmesh/internal-api';
import { originOf, tellEnded, type FeatureResolvers } from '../graphql/context.ts';
import type { SessionService } from './session.service.ts';

export function createSessionsResolvers(sessions: SessionService) {
  return {
    Query: {
      sessions: (_parent, _args, { identity }) => sessions.list(requireUser(identity)),
    },
    Mutation: {
      endSession: async (_parent, { id }, context) => {
        const session = await sessions.endOne(requireSession(context.identity), id, originOf(context));
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
