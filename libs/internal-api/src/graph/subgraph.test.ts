import { notFound } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { parse } from 'graphql';
import { createSubgraph, type SubgraphContext } from './subgraph.ts';

const ADA = { role: 'user', userId: 'ada', sessionId: 'session' } as const;
const subgraph = createSubgraph({
  name: 'test',
  typeDefs: parse('type Query { missing: String broken: String session: String } type Mutation { write: String }'),
  resolvers: {
    Query: {
      missing: () => Promise.reject(notFound('There is no such item.')),
      broken: () => Promise.reject(new Error('a secret')),
      session: (_: unknown, __: unknown, { extensions }: SubgraphContext) => void (extensions['session'] = 'new'),
    },
    Mutation: { write: () => 'written' },
  },
  log: createLog({ service: 'test', level: 'silent' }),
});

describe('the subgraph of a service', () => {
  it('shows its own errors, and hides all others', async () => {
    const { errors } = await subgraph.execute({ query: '{ missing broken }' }, { identity: ADA, requestId: 'r1' });
    expect(errors).toEqual([
      { message: 'There is no such item.', path: ['missing'], extensions: { code: 'NOT_FOUND' } },
      {
        message: 'Internal server error',
        path: ['broken'],
        extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'r1' },
      },
    ]);
  });

  it('sends extensions of its resolvers with the result', async () => {
    const asked = { query: '{ session }' };
    expect(await subgraph.execute(asked, { identity: ADA, requestId: 'r2' })).toEqual({
      data: { session: null },
      extensions: { session: 'new' },
    });
  });

  it.each([false, true])('refuses mutations of callers who may only read (traced: %s)', async (isTraced) => {
    const write = async (identity: typeof ADA & { scope?: 'read' }) =>
      subgraph.execute({ query: 'mutation { write }' }, { identity, requestId: 'r3', isTraced });
    expect(await write(ADA)).toMatchObject({ data: { write: 'written' } });
    expect(await write({ ...ADA, scope: 'read' })).toMatchObject({
      data: { write: null },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });
});
