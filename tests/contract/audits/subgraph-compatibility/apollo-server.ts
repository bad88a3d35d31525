import { parse, type DocumentNode } from 'graphql';

/** Of what a service of the suite is made. */
export interface Parts {
  typeDefs: DocumentNode;
  resolvers: object;
}

let latest: Parts | undefined;

/** What was to be served by the module of the suite that was just imported. */
export function takeParts(): Parts {
  if (!latest) throw new Error('The module serves nothing.');
  const parts = latest;
  latest = undefined;
  return parts;
}

// What the suite's services import. Here they only describe what they consist of.

export const gql = parse;

export const buildSubgraphSchema = (parts: Parts): Parts => parts;

export class ApolloServer {
  readonly parts: Parts;

  constructor({ schema }: { schema: Parts }) {
    this.parts = schema;
  }
}

/** The suite would say where it listens. */
export function startStandaloneServer({ parts }: ApolloServer): Promise<never> {
  latest = parts;
  return new Promise(() => {});
}
