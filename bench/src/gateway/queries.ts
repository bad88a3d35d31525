export const QUERIES = ['simple', 'mid', 'heavy'] as const;

export type QueryName = (typeof QUERIES)[number];

/** `heavy` asks for what the public benchmark's query does; `mid` needs each service once, `simple` one of them. */
export const DOCUMENTS: Record<QueryName, string> = {
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
