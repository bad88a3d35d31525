import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, type GraphQLSchema } from 'graphql';
import type { SubgraphAnswer } from '../src/index.ts';
import { compose, parseSubgraph } from './world.ts';

const SERVICES = {
  products: 'type Query { product(id: ID!): Product } type Product @key(fields: "id") { id: ID! name: String! }',
  reviews: `type Product @key(fields: "id") { id: ID! stars: Int! words: String }
    type Subscription { reviewed(first: Int!): Review! } type Review { words: String! product: Product! }`,
};

/** Counts the closed subscriptions of the reviews service. */
export const seen = { closed: 0 };

async function* reviewed(_source: unknown, { first }: { first: number }) {
  try {
    for (let id = 1; id <= Math.abs(first); id++)
      yield { reviewed: { words: `words ${id}`, product: { id: String(id), stars: id % 5 } } };
    if (first < 0) await new Promise(() => undefined); // an idle subscription
  } finally {
    seen.closed++;
  }
}

const product = ({ id }: { id: string }) => ({ id, name: `Product ${id}` });
const RESOLVERS = {
  products: {
    Query: { product: (_source: unknown, args: { id: string }) => product(args) },
    Product: { __resolveReference: product },
  },
  reviews: {
    Product: {
      __resolveReference: ({ id }: { id: string }) => ({ id, stars: 4 }),
      words: () => {
        throw new Error('no words today');
      },
    },
    Subscription: { reviewed: { subscribe: reviewed } },
  },
};

export const schemas = new Map<string, GraphQLSchema>(
  Object.entries(SERVICES).map(([name, sdl]) => [
    name,
    buildSubgraphSchema({ typeDefs: parseSubgraph(sdl), resolvers: RESOLVERS[name as keyof typeof RESOLVERS] }),
  ]),
);

export const supergraph = compose(SERVICES);

/** The response of a service over a network. */
export async function responseOf(
  service: string,
  source: string,
  variableValues: Record<string, unknown>,
): Promise<SubgraphAnswer> {
  const schema = schemas.get(service);
  if (!schema) throw new Error(`There is no service ${service}.`);
  return JSON.parse(JSON.stringify(await graphql({ schema, source, variableValues }))) as SubgraphAnswer;
}

export const PRODUCT = 'query ($id: ID!) { product(id: $id) { name stars words } }';
export const NO_WORDS = { message: 'no words today', path: ['product', 'words'] };

export const REVIEWED = 'subscription ($n: Int!) { reviewed(first: $n) { words product { stars title: name } } }';
export const reviewedEvent = (id: number) => ({
  data: { reviewed: { words: `words ${id}`, product: { stars: id % 5, title: `Product ${id}` } } },
});
