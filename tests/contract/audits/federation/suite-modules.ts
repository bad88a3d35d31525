import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse, type GraphQLSchema } from 'graphql';

type Resolvers = NonNullable<Extract<Parameters<typeof buildSubgraphSchema>[0], { typeDefs: unknown }>['resolvers']>;

/** A service of the audit, which runs in this process. */
export interface Subgraph {
  name: string;
  typeDefs: string;
  schema: GraphQLSchema;
}

/** Replaces the suite's function with this name, which serves HTTP. */
export function createSubgraph(
  name: string,
  { typeDefs, resolvers }: { typeDefs: string; resolvers: Resolvers },
): Subgraph {
  return { name, typeDefs, schema: buildSubgraphSchema({ typeDefs: parse(typeDefs), resolvers }) };
}

export interface Case {
  query: string;
  /** `errors`: whether errors are required or forbidden; if absent, both are accepted. */
  expected: { data?: unknown; errors?: boolean };
}

export interface CaseGroup {
  id: string;
  subgraphs: readonly Subgraph[];
  cases: readonly Case[];
}

/** As `createSubgraph`. */
export function serve(id: string, subgraphs: readonly Subgraph[], tests: readonly Case[] | (() => Case[])): CaseGroup {
  return { id, subgraphs, cases: typeof tests === 'function' ? tests() : tests };
}
