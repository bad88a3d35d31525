import { composeServices } from '@apollo/composition';
import { buildSchema, graphql, parse, type GraphQLSchema } from 'graphql';

/** The graph of the public gateway benchmark (graphql-hive/graphql-gateways-benchmark), written by us. */
const SERVICES = {
  accounts: `
    type Query { me: User user(id: ID!): User users: [User] }
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }
  `,
  inventory: `
    type Product @key(fields: "upc") {
      upc: String! weight: Int @external price: Int @external
      inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
    }
  `,
  products: `
    type Query { topProducts(first: Int = 5): [Product] }
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }
  `,
  reviews: `
    type Review @key(fields: "id") { id: ID! body: String product: Product author: User @provides(fields: "username") }
    type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }
  `,
};

const FEDERATION_LINK = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.3"
  import: ["@key", "@external", "@requires", "@provides", "@shareable"]
)`;

const COMBINED_SDL = `
  type Query { me: User user(id: ID!): User users: [User] topProducts(first: Int = 5): [Product] }
  type User { id: ID! name: String username: String birthday: Int reviews: [Review] }
  type Review { id: ID! body: String product: Product author: User }
  type Product { upc: String! name: String price: Int weight: Int inStock: Boolean shippingEstimate: Int reviews: [Review] }
`;

/** `heavy` requests the same as the public benchmark's query; `mid` needs each service once, `simple` only one of them. */
export const DOCUMENTS = {
  simple: 'query Simple { users { id name username birthday } }',
  mid: 'query Mid { topProducts(first: 5) { upc name inStock reviews { id body author { id name } } } }',
  heavy: `
    query Heavy {
      users {
        ...Person
        reviews { ...Text product { ...Goods reviews { ...Text author { ...Person reviews { ...Text product { ...Goods } } } } } }
      }
      topProducts { ...Goods reviews { ...Text author { ...Person reviews { ...Text product { ...Goods } } } } }
    }
    fragment Person on User { id username name }
    fragment Text on Review { id body }
    fragment Goods on Product { inStock name price shippingEstimate upc weight }
  `,
};
export type QueryName = keyof typeof DOCUMENTS;
export const QUERIES = ['simple', 'mid', 'heavy'] as const satisfies QueryName[];

const users = ['Ada', 'Bela', 'Chidi', 'Dana', 'Emre', 'Freya'].map((name, index) => ({
  ...{ __typename: 'User', id: String(index + 1), name: `${name} Example`, username: name.toLowerCase() },
  birthday: 631_152_000 + index,
  reviews: () => reviews.slice(0, 2),
}));

const GOODS = ['Desk', 'Bench', 'Vase', 'Stool', 'Screen', 'Lantern', 'Stove', 'Freezer', 'Couch'];
const PRICES = [899, 1299, 15, 499, 1299, 6999, 3999, 100_000, 9999];
const WEIGHTS = [100, 1000, 20, 100, 1000, 300, 2000, 6000, 800];
const IN_STOCK = ['Desk', 'Screen', 'Lantern', 'Stove', 'Couch'];
const products = GOODS.map((name, index) => {
  const [price = 0, weight = 0] = [PRICES[index], WEIGHTS[index]];
  return {
    ...{ __typename: 'Product', upc: String(index + 1), name, price, weight, inStock: IN_STOCK.includes(name) },
    shippingEstimate: price > 1000 ? 0 : weight / 2,
    reviews: (): object[] => reviews.filter((review) => review.of === index),
  };
});

/** The index of each review's product, and the length of its text, as in the public benchmark. */
const REVIEWED = [0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 3];
const LENGTHS = [446, 289, 276, 146, 446, 289, 276, 146, 146, 146, 870];
const SENTENCE = 'It arrived on time and intact, does what it should, and I would buy it again. ';
const reviews = REVIEWED.map((of, index) => ({
  ...{ __typename: 'Review', id: String(index + 1), body: SENTENCE.repeat(12).slice(0, LENGTHS[index]), of },
  product: () => products[of],
  author: () => users[0],
}));

const ROOT = {
  me: users[0],
  user: ({ id }: { id: string }) => users.find((user) => user.id === id),
  users,
  topProducts: ({ first }: { first: number }) => products.slice(0, first),
  /** Finds entities by the key that the gateway sends. Only with a price and a weight, they have an estimate. */
  _entities: ({ representations }: { representations: { __typename: string; id?: string; upc?: string }[] }) =>
    representations.map((sent) => {
      const all: { __typename: string; id?: string; upc?: string }[] = [...users, ...products, ...reviews];
      const entity = all.find(
        (each) => each.__typename === sent.__typename && each.id === sent.id && each.upc === sent.upc,
      );
      const isEstimated = 'price' in sent && 'weight' in sent;
      return entity && { ...entity, ...(!isEstimated && { shippingEstimate: null }) };
    }),
};

/** Returns the schemas of the services by name, with `_entities`. */
export function serviceSchemas(): ReadonlyMap<string, GraphQLSchema> {
  return new Map(
    Object.entries(SERVICES).map(([name, sdl]) => {
      const entities = [...sdl.matchAll(/type (\w+) @key/g)].map(([, type]) => type).join(' | ');
      const query = `_entities(representations: [_Any!]!): [_Entity]!`;
      const own = sdl.includes('type Query') ? `extend type Query { ${query} }` : `type Query { ${query} }`;
      return [name, buildSchema(`${sdl} scalar _Any union _Entity = ${entities} ${own}`, { assumeValidSDL: true })];
    }),
  );
}

/** Executes a query on a schema; returns the response as JSON. @throws when it has errors */
export async function respond(schema: GraphQLSchema, source: string, variableValues = {}): Promise<string> {
  const { data, errors } = await graphql({ schema, source, rootValue: ROOT, variableValues });
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return JSON.stringify({ data });
}

/** The response of graphql-js when all services are one schema. */
export const expectedResponse = (query: QueryName) => respond(buildSchema(COMBINED_SDL), DOCUMENTS[query]);

/** Composes the supergraph of services that all listen at `origin`, each at its own path. */
export function composeShop(origin: string): string {
  const services = Object.entries(SERVICES).map(([name, sdl]) => ({
    name,
    url: `${origin}/${name}`,
    typeDefs: parse(FEDERATION_LINK + sdl),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new Error(errors?.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}
