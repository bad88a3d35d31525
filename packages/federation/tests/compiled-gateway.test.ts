import { ApolloServer } from '@apollo/server';
import { compiledGateway, type AskSubgraph } from '../src/index.ts';
import { responseOf, NO_WORDS, PRODUCT, supergraph } from './products-and-reviews.ts';

describe("Apollo Server's gateway", () => {
  const asked: { service: string; user: string | undefined }[] = [];
  const ask: AskSubgraph<{ user?: string }> = async ({ operation: { service, text }, variables }, { user }) => {
    asked.push({ service, user });
    return responseOf(service, text, variables);
  };
  const server = new ApolloServer<{ user?: string }>({ gateway: compiledGateway({ supergraph, ask }) });
  beforeAll(() => server.start());
  afterAll(() => server.stop());
  beforeEach(() => void asked.splice(0));

  const execute = async (query: string, variables: Record<string, unknown> = {}) => {
    const { body } = await server.executeOperation({ query, variables }, { contextValue: { user: 'ada' } });
    if (body.kind !== 'single') throw new Error('not a single result');
    return body.singleResult;
  };

  it('combines entities of several services and passes on the request’s context', async () => {
    expect(await execute('{ product(id: 1) { name stars } }')).toEqual({
      data: { product: { name: 'Product 1', stars: 4 } },
    });
    expect(asked).toEqual([
      { service: 'products', user: 'ada' },
      { service: 'reviews', user: 'ada' },
    ]);
  });

  it('reports errors of services at the client’s paths', async () => {
    const { data, errors } = await execute(PRODUCT, { id: '2' });
    expect(data).toEqual({ product: { name: 'Product 2', stars: 4, words: null } });
    expect(errors).toEqual([expect.objectContaining(NO_WORDS)]);
    expect(errors?.[0]?.extensions).toMatchObject({ serviceName: 'reviews' });
  });

  it('rejects variables of the wrong type without calling a service', async () => {
    const { errors } = await execute(PRODUCT, { id: { not: 'an id' } });
    expect(errors?.[0]?.message).toMatch(/^Variable "\$id" got invalid value/);
    expect(asked).toEqual([]);
  });

  it('supports introspection', async () => {
    expect(await execute('{ __type(name: "Product") { fields { name } } }')).toEqual({
      data: { __type: { fields: [{ name: 'id' }, { name: 'name' }, { name: 'stars' }, { name: 'words' }] } },
    });
  });
});
