import { GraphQLScalarType, parse, type GraphQLResolveInfo } from 'graphql';
import { execFileSync } from 'node:child_process';
import { executableSubgraph } from './subgraph.ts';

const path = (url: string | URL) => JSON.stringify(String(url));

describe('the documents of a subgraph', () => {
  const BUDGET = 16 * 1024 * 1024;
  const typeDefs = parse('type Query { a: Int }');

  // In a separate process, because garbage of other tests may be collected meanwhile in this one.
  it.each(['', '@include(if: $yes)'])('stay within the memory limit, however many there are (fields %j)', (more) => {
    const script = `
        import { parse } from ${path(import.meta.resolve('graphql'))};
        import { executableSubgraph } from ${path(new URL('subgraph.ts', import.meta.url))};
        const subgraph = executableSubgraph({ typeDefs: parse('type Query { a: Int }'), resolvers: {} });
        const more = ${JSON.stringify(more)};
        const ask = (query, variables) => subgraph.execute({ query, variables }, {});
        const fields = Array.from({ length: 500 }, (_, field) => 'a' + field + ': a ' + more).join(' ');
        const long = (index) => 'query Q' + index + (more && '($yes: Boolean!)') + ' { ' + fields + ' }';
        const heap = () => (gc(), process.memoryUsage().heapUsed);
        await ask(long(0), { yes: true });
        const before = heap();
        for (let index = 1; index < 120; index++) for (const yes of [true, false]) await ask(long(index), { yes });
        const taken = heap() - before;
        console.log(JSON.stringify({ taken, answer: await ask('{ a }') }));
      `;
    const args = ['--expose-gc', '--input-type=module', '--eval', script];
    const { taken, answer } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as {
      taken: number;
      answer: unknown;
    };
    expect(taken).toBeLessThan(BUDGET * 1.25);
    expect(taken).toBeGreaterThan(BUDGET / 4);
    expect(answer).toEqual({ data: { a: null } });
  });

  it('stay prepared while they are in use', async () => {
    const seen = new Set<unknown>();
    const a = (_: unknown, __: unknown, ___: unknown, { operation }: GraphQLResolveInfo) => void seen.add(operation);
    const subgraph = executableSubgraph({ typeDefs, resolvers: { Query: { a } } });
    for (let index = 0; index < 1_500; index++) {
      await subgraph.execute({ query: '{ a }' }, {});
      await subgraph.execute({ query: `query Q${index} { __typename }` }, {});
      if (index % 5 === 0) await subgraph.execute({ query: `{ __typename } #${index}${' '.repeat(4_000)}` }, {});
    }
    expect(seen.size).toBe(1);
  });
});

describe('a result', () => {
  const kept = { deep: [{ when: new Date(0), left: undefined }] };
  const subgraph = executableSubgraph({
    typeDefs: parse('scalar Any type Query { any: Any big: Any seen: Boolean slow: Query }'),
    resolvers: {
      Any: new GraphQLScalarType({ name: 'Any' }),
      Query: { any: () => kept, big: () => 1n, seen: () => true, slow: () => ({}) },
    },
  });

  it('consists of JSON values and shares nothing with the service’s objects', async () => {
    const { data } = await subgraph.execute({ query: '{ any }' }, {});
    expect(data).toStrictEqual({ any: { deep: [{ when: '1970-01-01T00:00:00.000Z' }] } });
  });

  it('has an error where a value cannot be expressed in JSON', async () => {
    expect(await subgraph.execute({ query: '{ big }' }, {})).toMatchObject({
      data: { big: null },
      errors: [{ path: ['big'], message: 'Do not know how to serialize a BigInt' }],
    });
  });

  it.each([{}, { query: 5 }, { query: null }])('is an error for a request without a query: %j', async (request) => {
    for (const isTraced of [false, true])
      expect(await subgraph.execute(request as never, {}, { isTraced })).toMatchObject({
        errors: [{ message: 'The query must be a string.' }],
      });
  });

  it('is not computed if the caller has gone away before it starts, not even for a mutation', async () => {
    expect(await subgraph.execute({ query: '{ seen }' }, {}, { isCancelled: () => true })).toEqual({
      errors: [{ message: 'No one is waiting for the result.' }],
    });
  });
});
