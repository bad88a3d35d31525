import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

export type ServiceName = 'accounts' | 'inventory' | 'products' | 'reviews';

/** The graph of the public gateway benchmark (graphql-hive/graphql-gateways-benchmark), in words of our own. */
const SERVICES: Record<ServiceName, string> = {
  accounts: `
    type Query { me: User user(id: ID!): User users: [User] }
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }
  `,
  inventory: `
    type Product @key(fields: "upc") {
      upc: String!
      weight: Int @external
      price: Int @external
      inStock: Boolean
      shippingEstimate: Int @requires(fields: "price weight")
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

const FEDERATION = `extend schema @link(
  url: "https://specs.apollo.dev/federation/v2.3"
  import: ["@key", "@external", "@requires", "@provides", "@shareable"]
)`;

/** The supergraph of services that all listen at `origin`, each at a path of its own. */
export function composeShop(origin: string): string {
  const { supergraphSdl, errors } = composeServices(
    Object.entries(SERVICES).map(([name, sdl]) => ({
      name,
      url: `${origin}/${name}`,
      typeDefs: parse(FEDERATION + sdl),
    })),
  );
  if (supergraphSdl === undefined) throw new Error(errors?.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}
