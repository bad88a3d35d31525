import { requireSession, requireUser } from '@taskmesh/internal-api';
import { originOf, tellEnded, type FeatureResolvers } from '../graphql/context.ts';
import type { ChangeService } from './change.service.ts';

export function createChangesResolvers(changes: ChangeService) {
  return {
    Mutation: {
      changeName: (_parent, { name }, context) =>
        changes.changeName(requireUser(context.identity), name, originOf(context)),
      changePassword: async (_parent, { input }, context) => {
        tellEnded(context, await changes.changePassword(requireSession(context.identity), input, originOf(context)));
        return true;
      },
      requestEmailChange: async (_parent, { input }, context) => {
        await changes.requestEmail(requireSession(context.identity), input, originOf(context));
        return true;
      },
      confirmEmailChange: async (_parent, input, context) => {
        const { identity } = context;
        // The password decides by itself, with anyone signed in and in any way.
        const user = identity.role === 'user' && !input.password ? requireSession(identity) : undefined;
        await changes.confirmEmail(user, input, originOf(context));
        return true;
      },
    },
  } satisfies FeatureResolvers;
}
