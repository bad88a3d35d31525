import { createLog } from '@taskmesh/service';
import { GraphQLScalarType, parse, type GraphQLResolveInfo } from 'graphql';
import { execFileSync } from 'node:child_process';
import { createSubgraph, type SubgraphContext } from './subgraph.ts';

const log = createLog({ service: 'test', level: 'fatal' });
const call = { identity: { role: 'anonymous' } as const, requestId: 'request' };

const path = (url: string | URL) => JSON.stringify(String(url));

describe('the documents of a subgraph', () => {
  const BUDGET = 16 * 1024 * 1024;
  const typeDefs = parse('type Query { a: Int }');

  // In a process of its own: in this one, what other tests have left may be collected meanwhile.
  it.each(['', '@include(if: $yes)'])(
    'take no more memory than they may, however many there are (fields %j)',
    (more) => {
      const script = `
        import { createLog } from ${path(import.meta.resolve('@taskmesh/service'))};
        import { parse } from ${path(import.meta.resolve('graphql'))};
        import { createSubgraph } from ${path(new URL('subgraph.ts', import.meta.url))};
        const [typeDefs, log] = [parse('type Query { a: Int }'), createLog({ service: 'test', level: 'fatal' })];
        const subgraph = createSubgraph({ name: 'test', typeDefs, resolvers: {}, log });
        const more = ${JSON.stringify(more)};
        const ask = (query, variables) =>
          subgraph.execute({ query, variables }, { identity: { role: 'anonymous' }, requestId: 'request' });
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
    },
  );

  it('stay prepared as long as they are in use', async () => {
    const seen = new Set<unknown>();
    const a = (_: unknown, __: unknown, ___: unknown, { operation }: GraphQLResolveInfo) => void seen.add(operation);
    const subgraph = createSubgraph({ name: 'test', typeDefs, resolvers: { Query: { a } }, log });
    for (let index = 0; index < 1_500; index++) {
      await subgraph.execute({ query: '{ a }' }, call);
      await subgraph.execute({ query: `query Q${index} { __typename }` }, call);
      if (index % 5 === 0) await subgraph.execute({ query: `{ __typename } #${index}${' '.repeat(4_000)}` }, call);
    }
    expect(seen.size).toBe(1);
  });
});

describe('a result', () => {
  const kept = { deep: [{ when: new Date(0), left: undefined }] };
  const subgraph = createSubgraph({
    name: 'test',
    typeDefs: parse('scalar Any type Query { any: Any big: Any seen: Boolean slow: Query }'),
    resolvers: {
      Any: new GraphQLScalarType({ name: 'Any' }),
      Query: {
        any: () => kept,
        big: () => 1n,
        seen: (_: unknown, __: unknown, { isCancelled }: SubgraphContext) => isCancelled?.() ?? false,
        slow: () => ({}),
      },
    },
    log,
  });

  it('is what JSON would carry, and shares nothing with what the service keeps', async () => {
    const { data } = await subgraph.execute({ query: '{ any }' }, call);
    expect(data).toStrictEqual({ any: { deep: [{ when: '1970-01-01T00:00:00.000Z' }] } });
  });

  it('has an error where JSON has no form for a value', async () => {
    expect(await subgraph.execute({ query: '{ big }' }, call)).toMatchObject({
      data: { big: null },
      errors: [{ path: ['big'], extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    });
  });

  it('of what nobody waits for when it would begin is none, of a mutation neither', async () => {
    const cancelled = { ...call, isCancelled: () => true };
    expect(await subgraph.execute({ query: '{ seen }' }, cancelled)).toEqual({
      errors: [{ message: 'Nobody waits for the result any more.' }],
    });
  });
});
