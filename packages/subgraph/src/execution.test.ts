import { jest } from '@jest/globals';
import fc from 'fast-check';
import { buildSchema, execute, parse, type ExecutionResult, type GraphQLResolveInfo } from 'graphql';
import { createHash } from 'node:crypto';
import { createExecution } from './subgraph.ts';

const SDL = `
  type Query { node: Node must: Node! nodes: [Node] strict: [Node!]! grid: [[Named!]] either: Either text(first: Int = 3, filter: Filter): String }
  type Mutation { node: Node must: Node! text(first: Int = 3, filter: Filter): String }
  input Filter { words: [String!] deep: Filter on: Boolean = true }
  interface Named { name: String }
  type Node implements Named { name: String title: String! count: Int color: Color node: Node must: Node! nodes: [Node!] either: Either }
  type Other implements Named { name: String node: Node }
  union Either = Node | Other
  enum Color { RED GREEN }
`;

const RUNS = 300;

const SYNC = ['right', 'right', 'right', 'right', 'null', 'undefined', 'wrong', 'error', 'throws', 'called'];
const ASYNC = [...SYNC, 'later', 'later', 'rejects'];

/** Always returns the same value for a place and seed. */
function valueAt(place: string, seed: number, fates: readonly string[]): unknown {
  const dice = createHash('md5')
    .update(`${String(seed)} ${place}`)
    .digest();
  const right = () => rightValueAt(place, seed, fates, dice.readUInt8(4));
  const throwing = () => {
    throw new Error(`thrown at ${place}`);
  };
  const values: Record<string, () => unknown> = {
    ...{ right, null: () => null, undefined: () => undefined, wrong: () => Symbol('wrong') },
    ...{ error: () => new Error(`error at ${place}`), throws: () => throwing, called: () => right },
    later: () => () => new Promise((resolve) => setImmediate(() => resolve(right()))),
    rejects: () => () => Promise.reject(new Error(`rejected at ${place}`)),
  };
  return values[fates[dice.readUInt32BE() % fates.length] ?? '']?.();
}

function rightValueAt(place: string, seed: number, fates: readonly string[], die: number): unknown {
  const at = (key: string) => valueAt(`${place}.${key}`, seed, fates);
  // List items are not called, so call them here. If one may be asynchronous, all are: graphql-js would leave the rejection
  // of an asynchronous item unhandled when another item fails at once.
  const item = (index: number) => {
    const value = callIfFunction(at(String(index)));
    return fates === ASYNC ? Promise.resolve(value) : value;
  };
  const items = () => [0, 1, 2].slice(0, die % 4).map(item);
  switch (place.split('.').findLast((key) => Number.isNaN(Number(key)))) {
    case 'name':
    case 'title':
    case 'text':
      return `of ${place}`;
    case 'count':
      return die;
    case 'color':
      return 'RED';
    case '__typename':
      return ['Node', 'Node', 'Other', 'Other', 'Color', 'Unknown'][die % 6];
    case 'grid':
      return place.endsWith('grid') ? [items(), null, items()] : object(at);
    case 'nodes':
    case 'strict':
      return /[a-z]$/.test(place) ? items() : object(at);
    default:
      return object(at);
  }
}

function object(at: (key: string) => unknown): object {
  return new Proxy({}, { get: (_target, key) => (typeof key === 'string' && key !== 'then' ? at(key) : undefined) });
}

function callIfFunction(value: unknown): unknown {
  if (typeof value !== 'function') return value;
  try {
    return value() as unknown;
  } catch (error) {
    return error;
  }
}

function createWorld(seed: number, fates: readonly string[]) {
  const schema = buildSchema(SDL);
  const calls: string[] = [];
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const [name, field] of Object.entries(root?.getFields() ?? {})) {
      field.resolve = (source: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) => {
        const { fieldName, fieldNodes, returnType, parentType, path, variableValues, operation } = info;
        calls.push(JSON.stringify([source, args, context, fieldName, fieldNodes, returnType, parentType, path]));
        calls.push(JSON.stringify([variableValues, operation, Object.keys(info.fragments), info.schema === schema]));
        if (name === 'text') return JSON.stringify(args);
        const value = valueAt(`root.${name}`, seed, fates);
        return typeof value === 'function' ? (value as () => unknown)() : value;
      };
    }
  }
  return { schema, calls };
}

const when = fc.constantFrom('', '', '', '@skip(if: $yes)', '@include(if: $no)', '@skip(if: false) @include(if: $yes)');
const named = (...fields: string[]) => fc.tuple(fc.constantFrom(...fields), when).map((parts) => parts.join(' '));
const { selection } = fc.letrec<{ selection: string; field: string }>((tie) => {
  const inside = (...heads: string[]) =>
    fc
      .tuple(fc.constantFrom(...heads), when, tie('selection'))
      .map(([head, directives, fields]) =>
        head.startsWith('on ') ? `... ${head} ${directives} { ${fields} }` : `${head} ${directives} { ${fields} }`,
      );
  return {
    field: fc.oneof(
      { maxDepth: 4, depthSize: 'medium' },
      named('__typename', 'name', 'other: name', '__proto__: name', 'then: name', '...Shared'),
      named('title', 'count', 'color', 'constructor: title').map((field) => `... on Node { ${field} }`),
      inside('node', 'must', 'nodes', 'either', 'again: node').map((field) => `... on Node { ${field} }`),
      inside('node', 'again: node').map((field) => `... on Other { ${field} }`),
      inside('on Node', 'on Other', 'on Named'),
    ),
    selection: fc.array(tie('field'), { minLength: 1, maxLength: 5, size: 'max' }).map((fields) => fields.join(' ')),
  };
});
const objectField = fc
  .tuple(fc.constantFrom('node', 'must', 'nodes', 'strict', 'grid', 'either', 'again: node'), when, selection)
  .map(([head, directives, fields]) => `${head} ${directives} { ${fields} }`);
const rootField = fc.oneof(
  { weight: 8, arbitrary: objectField },
  named('text', 'text(filter: $filter)', 'text(first: $first)', 'text(first: null)', '__typename'),
  named('text(first: $first, filter: { words: ["a"], deep: { words: $words } })'),
  fc.constant('__type(name: "Node") { name fields { name args { name } type { name kind ofType { name } } } }'),
);
const source = fc
  .tuple(
    fc.constantFrom('query', 'mutation'),
    fc.array(rootField, { minLength: 1, maxLength: 4, size: 'max' }),
    fc.constantFrom('name', 'node { title name }', '... on Node { color node { __typename } }'),
  )
  .map(([kind, fields, shared]) => {
    const head = `${kind} Run($yes: Boolean!, $no: Boolean = false, $first: Int, $filter: Filter, $words: [String!])`;
    return `${head} { ${fields.join(' ')} } fragment Shared on Named { ${shared} } query Unused { __typename }`;
  });
const variables = fc.record(
  {
    yes: fc.oneof({ weight: 30, arbitrary: fc.boolean() }, { weight: 1, arbitrary: fc.constant('no') }),
    no: fc.boolean(),
    first: fc.constantFrom(1, 2, null),
    filter: fc.constantFrom({}, { on: null, deep: { words: ['b'] } }, { words: 'c' }, { on: false }, null),
    words: fc.constantFrom(['d'], null),
  },
  { requiredKeys: ['yes'] },
);

async function both(seed: number, fates: readonly string[], text: string, given: Record<string, unknown>) {
  const [theirs, ours] = [createWorld(seed, fates), createWorld(seed, fates)];
  const document = parse(text, { noLocation: true });
  const request = { operationName: 'Run', contextValue: { who: 'someone' } };
  const expected = await execute({ schema: theirs.schema, document, variableValues: given, ...request });
  const run = createExecution(ours.schema, document);
  await run({ variables: { ...given, yes: given.yes !== true, no: given.no !== true }, ...request }); // needs another plan
  ours.calls.length = 0;
  const actual = await run({ variables: given, ...request });
  return { expected: comparable(expected), actual: comparable(actual), theirCalls: theirs.calls, ourCalls: ours.calls };
}

/** Data with the order of its keys; errors, except the wording about values that match no type. */
function comparable({ data, errors = [] }: ExecutionResult) {
  const withoutWords = (message: string) =>
    message.replace(/^(Abstract type .*|A .* is resolved to .*)/, 'no such type');
  const failures = errors.map(({ message, path }) => `${withoutWords(message)} at ${String(path?.join('.'))}`);
  // Of several errors below one null, timing decides which is reported.
  const nulls = new Set(errors.map(({ path = [] }) => nullOn(data, path).join('.')));
  return { data: JSON.stringify(data), failures, nulls: [...nulls].toSorted() };
}

function nullOn(data: unknown, [key, ...rest]: readonly (string | number)[]): (string | number)[] {
  if (data === null || data === undefined || key === undefined) return [];
  return [key, ...nullOn(new Map<unknown, unknown>(Object.entries(data)).get(String(key)), rest)];
}

describe('an execution behaves like graphql-js', () => {
  it('gives the same data, errors and resolver calls for synchronous values', async () => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(fc.nat(), source, variables, async (seed, text, given) => {
      const { expected, actual, ourCalls, theirCalls } = await both(seed, SYNC, text, given);
      expect(actual).toEqual(expected);
      expect(ourCalls).toEqual(theirCalls);
      for (const failure of expected.failures) seen.add(failure.split(' ').slice(0, 2).join(' '));
    });
    await fc.assert(property, { numRuns: RUNS });
    // The comparison covered failures, too.
    expect([...seen]).toEqual(expect.arrayContaining(['Cannot return', 'error at', 'no such', 'thrown at']));
  });

  it('gives the same data and calls, and errors for the same nulls, for asynchronous values', async () => {
    const property = fc.asyncProperty(fc.nat(), source, variables, async (seed, text, given) => {
      const { expected, actual, ourCalls, theirCalls } = await both(seed, ASYNC, text, given);
      expect([actual.data, actual.nulls]).toEqual([expected.data, expected.nulls]);
      expect(ourCalls.toSorted()).toEqual(theirCalls.toSorted());
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('leaves no rejection unhandled when one item fails at once and another later', async () => {
    const schema = buildSchema('type Query { words: [String!] }');
    const field = schema.getQueryType()?.getFields().words;
    if (!field) throw new Error('The schema has no such field.');
    field.resolve = () => [new Promise((_resolve, reject) => setImmediate(reject, new Error('later'))), null];
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const result = await createExecution(schema, parse('{ words }'))({ contextValue: {} });
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(comparable(result)).toMatchObject({
      data: '{"words":null}',
      failures: ['Cannot return null for non-nullable field Query.words. at words.1'],
    });
  });

  it.each([
    ['', 'Name one of the operations.'],
    ['Third', 'There is no operation "Third" here.'],
  ])('runs no operation for the name %j', async (operationName, message) => {
    const document = parse('query First { __typename } query Second { __typename }');
    const result = await createExecution(
      buildSchema(SDL),
      document,
    )({ operationName: operationName || null, contextValue: {} });
    expect(result.errors?.map((error) => error.message)).toEqual([message]);
    expect(result).not.toHaveProperty('data');
  });

  it('runs mutations one after another', async () => {
    const schema = buildSchema('type Query { no: String } type Mutation { add(word: String): String }');
    const words: unknown[] = [];
    const field = schema.getMutationType()?.getFields().add;
    if (!field) throw new Error('The schema has no such field.');
    field.resolve = async (_source, { word }: Record<string, unknown>) => {
      words.push(word);
      await new Promise(setImmediate);
      words.push(word);
    };
    const run = createExecution(schema, parse('mutation { a: add(word: "a") b: add(word: "b") }'));
    expect(comparable(await run({ contextValue: {} })).data).toBe('{"a":null,"b":null}');
    expect(words).toEqual(['a', 'a', 'b', 'b']);
  });
});
