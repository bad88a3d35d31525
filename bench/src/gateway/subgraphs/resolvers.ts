import { estimateShipping, products, reviews, users } from '../shop/goods.ts';
import type { ServiceName } from '../shop/services.ts';

/** What the gateway tells of an object that it wants to know more about. */
export type Representation = Readonly<Record<string, unknown>> & { __typename: string };

export interface Resolvers {
  query: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => unknown>>;
  entity: Readonly<Record<string, (representation: Representation) => object | undefined>>;
}

const byUpc = new Map(products.map((product) => [product.upc, product]));
const byUserId = new Map(users.map((user) => [user.id, user]));
const byReviewId = new Map(reviews.map((review) => [review.id, review]));

const findProduct = ({ upc }: Representation) => byUpc.get(String(upc));
const findUser = ({ id }: Representation) => byUserId.get(String(id));

/** An estimate is made of what the gateway sends along. */
function withEstimate(representation: Representation): object | undefined {
  const product = findProduct(representation);
  const { price, weight } = representation;
  const isKnown = typeof price === 'number' && typeof weight === 'number';
  return (
    product && {
      __typename: 'Product',
      upc: product.upc,
      inStock: product.inStock,
      shippingEstimate: isKnown ? estimateShipping({ price, weight }) : null,
    }
  );
}

export const RESOLVERS: Readonly<Record<ServiceName, Resolvers>> = {
  accounts: {
    query: { me: () => users[0], user: ({ id }) => byUserId.get(String(id)), users: () => users },
    entity: { User: findUser },
  },
  inventory: { query: {}, entity: { Product: withEstimate } },
  products: {
    query: { topProducts: ({ first = 5 }) => products.slice(0, Number(first)) },
    entity: { Product: findProduct },
  },
  reviews: {
    query: {},
    entity: { Product: findProduct, User: findUser, Review: ({ id }) => byReviewId.get(String(id)) },
  },
};
