import type { MutationResolvers, QueryResolvers, Resolvers } from './types.generated.ts';

/** One feature's part of the resolvers. */
export type FeatureResolvers = Omit<Resolvers, 'Query' | 'Mutation'> & {
  Query?: Partial<QueryResolvers>;
  Mutation?: Partial<MutationResolvers>;
};
