import { parse, type DocumentNode } from 'graphql';

/** The schema and the resolvers of a service of the suite. */
export interface Parts {
  typeDefs: DocumentNode;
  resolvers: object;
}

let latest: Parts | undefined;

/** Returns the parts that the last imported module of the suite passed to `startStandaloneServer`. */
export function takeParts(): Parts {
  if (!latest) throw new Error('The module serves nothing.');
  const parts = latest;
  latest = undefined;
  return parts;
}

// Replacements for the imports of the suite's services. They only collect the parts of a service.

export const gql = parse;

export const buildSubgraphSchema = (parts: Parts): Parts => parts;

export class ApolloServer {
  readonly parts: Parts;

  constructor({ schema }: { schema: Parts }) {
    this.parts = schema;
  }
}

/** Never resolves, so that the suite does not report an address. */
export function startStandaloneServer({ parts }: ApolloServer): Promise<never> {
  latest = parts;
  return new Promise(() => {});
}
