import { requireSession } from '@taskmesh/internal-api';
import { originOf, tellEnded, type FeatureResolvers } from '../graphql/context.ts';
import type { DeletionService } from './deletion.service.ts';

export function createDeletionResolvers(deletion: DeletionService) {
  return {
    Mutation: {
      deleteAccount: async (_parent, { input }, context) => {
        tellEnded(context, await deletion.delete(requireSession(context.identity), input, originOf(context)));
        return true;
      },
    },
  } satisfies FeatureResolvers;
}
