import { buildSchema, graphql } from 'graphql';
import { products, users } from './goods.ts';

const ONE_SCHEMA = buildSchema(`
  type Query { me: User user(id: ID!): User users: [User] topProducts(first: Int = 5): [Product] }
  type User { id: ID! name: String username: String birthday: Int reviews: [Review] }
  type Review { id: ID! body: String product: Product author: User }
  type Product {
    upc: String! name: String price: Int weight: Int inStock: Boolean shippingEstimate: Int reviews: [Review]
  }
`);

/** What graphql-js answers when all services are one schema, as JSON. */
export async function expectedAnswer(source: string): Promise<string> {
  const rootValue = { users, topProducts: ({ first }: { first: number }) => products.slice(0, first) };
  const { data, errors } = await graphql({ schema: ONE_SCHEMA, source, rootValue });
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return JSON.stringify({ data });
}
