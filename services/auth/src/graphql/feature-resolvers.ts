import type { MutationResolvers, QueryResolvers, Resolvers } from './types.generated.ts';

export type FeatureResolvers = Omit<Resolvers, 'Query' | 'Mutation'> & {
  Query?: Partial<QueryResolvers>;
  Mutation?: Partial<MutationResolvers>;
};
