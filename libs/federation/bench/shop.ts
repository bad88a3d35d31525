import type { Source, Subgraph } from '../tests/world.ts';

/** Four services about users, products and reviews, as public benchmarks of gateways have them. */
export const SHOP: Subgraph[] = [
  {
    name: 'accounts',
    sdl: `
      type Query { me: User users: [User] }
      type User @key(fields: "id") { id: ID! name: String username: String birthday: Int }
    `,
  },
  {
    name: 'products',
    sdl: `
      type Query { topProducts(first: Int = 5): [Product] }
      type Product @key(fields: "upc") { upc: ID! name: String price: Int weight: Int }
    `,
  },
  {
    name: 'inventory',
    sdl: `
      type Product @key(fields: "upc") {
        upc: ID! weight: Int @external price: Int @external
        inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
      }
    `,
  },
  {
    name: 'reviews',
    sdl: `
      type Review @key(fields: "id") { id: ID! body: String author: User product: Product }
      type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] }
      type Product @key(fields: "upc") { upc: ID! reviews: [Review] }
    `.replace('username: String @external ', ''),
  },
];

const USERS = 6;
const PRODUCTS = 9;
const REVIEWS = 11;

const review = (index: number) => ({ __typename: 'Review', id: String(index) });
const reviewsWhere = (is: (index: number) => boolean) =>
  Array.from({ length: REVIEWS }, (_, index) => index)
    .filter(is)
    .map(review);

export function shopValue(type: string, field: string, source: Source, args: Record<string, unknown>): unknown {
  const id = Number(source.id ?? source.upc ?? 0);
  switch (`${type}.${field}`) {
    case 'Query.users':
      return Array.from({ length: USERS }, (_, index) => ({ __typename: 'User', id: String(index) }));
    case 'Query.me':
      return { __typename: 'User', id: '0' };
    case 'Query.topProducts':
      return Array.from({ length: Math.min(Number(args.first), PRODUCTS) }, (_, index) => ({
        __typename: 'Product',
        upc: String(index),
      }));
    case 'Product.upc':
      return source.upc;
    case 'Product.reviews':
      return reviewsWhere((index) => index % 4 === id % 4);
    case 'User.reviews':
      return reviewsWhere((index) => index % USERS === id);
    case 'Review.author':
      return { __typename: 'User', id: String(id % USERS) };
    case 'Review.product':
      return { __typename: 'Product', upc: String(id % 4) };
    case 'Product.price':
      return 100 + id;
    case 'Product.weight':
      return 10 + id;
    case 'Product.inStock':
      return id % 2 === 0;
    case 'Product.shippingEstimate':
      return id * 3;
    default:
      return undefined;
  }
}

const REVIEW = '{ id body }';
const PRODUCT = 'inStock name price shippingEstimate upc weight';

export const OPERATIONS: Record<string, string> = {
  heavy: `
    fragment User on User { id username name }
    fragment Review on Review ${REVIEW}
    fragment Product on Product { ${PRODUCT} }
    query Heavy {
      users { ...User reviews { ...Review product { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } } } }
      topProducts(first: 5) { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } }
    }`,
  mid: '{ topProducts(first: 5) { upc name inStock reviews { id body author { id name } } } }',
  simple: '{ users { id name username birthday } }',
};
