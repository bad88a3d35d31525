import type { MutationResolvers, QueryResolvers, Resolvers } from './types.generated.ts';

/** The resolvers of one feature. */
export type FeatureResolvers = Omit<Resolvers, 'Query' | 'Mutation'> & {
  Query?: Partial<QueryResolvers>;
  Mutation?: Partial<MutationResolvers>;
};
