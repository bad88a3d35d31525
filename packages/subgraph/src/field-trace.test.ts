import { Trace } from '@apollo/usage-reporting-protobuf';
import { parse } from 'graphql';
import { executableSubgraph } from './subgraph.ts';

let arrive: (value: object) => void;
let begun: string[];

const subgraph = executableSubgraph({
  typeDefs: parse(`
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
    type Query { late: Item items: [Item!]! broken: [Item] }
    type Mutation { write: Item }
    type Item @key(fields: "id") { id: ID! title: String }
  `),
  resolvers: {
    Query: {
      late: () => new Promise((resolve) => (arrive = resolve)),
      items: () => [{ id: '1' }, { id: '2' }],
      broken: () => [{ id: '1' }, new Error('There is no such item.'), new Error('a secret')],
    },
    Mutation: { write: () => ({ id: '1' }) },
    Item: {
      title: ({ id }: { id: string }) => {
        begun.push(id);
        return `Item ${id}`;
      },
      __resolveReference: ({ id }: { id: string }) => new Promise((resolve) => (arrive = () => resolve({ id }))),
    },
  },
  formatError: (error) =>
    error.message === 'a secret' ? { message: 'Internal server error', path: error.path } : error.toJSON(),
});

beforeEach(() => {
  begun = [];
});

const ask = async (query: string, variables = {}) => {
  const { extensions, ...result } = await subgraph.execute({ query, variables }, {}, { isTraced: true });
  return { ...result, trace: Trace.decode(Buffer.from(String(extensions?.['ftv1']), 'base64')) };
};

/** The parts of a trace that do not depend on the clock. */
interface Field {
  name: string | number;
  of?: string;
  errors?: string[];
  fields?: Field[];
}

function fieldsOf({ child }: Trace.INode): Field[] {
  return (child ?? []).map((node) => ({
    name: node.responseName || (node.index ?? NaN),
    ...(node.type && { of: `${String(node.parentType)}.${node.originalFieldName || node.responseName}: ${node.type}` }),
    ...(node.error?.length && { errors: node.error.map(({ message }) => String(message)) }),
    ...(node.child?.length && { fields: fieldsOf(node) }),
  }));
}

function nodesOf(node: Trace.INode): Trace.INode[] {
  return [node, ...(node.child ?? []).flatMap(nodesOf)];
}

describe('the trace of an operation', () => {
  it('is a tree of the result’s fields', async () => {
    const { trace, ...result } = await ask('{ items { __typename name: title } }');
    expect(result).toEqual(await subgraph.execute({ query: '{ items { __typename name: title } }' }, {}));
    const fields = [{ name: 'name', of: 'Item.title: String' }];
    expect(trace.root && fieldsOf(trace.root)).toEqual([
      {
        name: 'items',
        of: 'Query.items: [Item!]!',
        fields: [
          { name: 0, fields },
          { name: 1, fields },
        ],
      },
    ]);
  });

  it.each([
    ['its promise', '{ late { id } other: items { title } }'],
    [
      'a list of promises',
      'query ($of: [_Any!]!) { _entities(representations: $of) { __typename } other: items { title } }',
    ],
  ])('ends a field when %s settles', async (_what, query) => {
    const asked = ask(query, { of: [{ __typename: 'Item', id: '7' }] });
    await new Promise(setImmediate);
    expect(begun).toEqual(['1', '2']);
    arrive({ id: '7' });
    const { trace } = await asked;
    const [late, other] = trace.root?.child ?? [];
    const lastOther = Math.max(...nodesOf(other ?? {}).map(({ endTime }) => Number(endTime)));
    expect(late?.endTime).toBeGreaterThan(lastOther);
    expect(late?.endTime).toBeLessThanOrEqual(trace.durationNs);
  });

  it('contains the errors of the response at their fields', async () => {
    const { trace, errors } = await ask('{ broken { id } }');
    const [broken] = trace.root?.child ?? [];
    expect(fieldsOf(broken ?? {})).toEqual([
      { name: 0, fields: [{ name: 'id', of: 'Item.id: ID!' }] },
      { name: 1, errors: ['There is no such item.'] },
      { name: 2, errors: ['Internal server error'] },
    ]);
    const json = nodesOf(trace.root ?? {}).flatMap(({ error }) => error?.map((each) => String(each.json)) ?? []);
    expect(json.map((each) => JSON.parse(each) as unknown)).toEqual(errors);
  });
});
