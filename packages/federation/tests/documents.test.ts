import { buildSchema, getIntrospectionQuery, parse, print } from 'graphql';
import { collectGarbage } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { createDocuments, InvalidOperation } from '../src/index.ts';

const schema = buildSchema(`
  type Query { me: User  item(id: ID!): Item  items(first: Int = 50, after: String): ItemConnection!  statistics: Statistics! }
  type Mutation { login(name: String): Int }
  type User { id: ID!  name: String!  items(first: Int = 50, after: String): ItemConnection! }
  type ItemConnection { edges: [ItemEdge!]!  totalCount: Int! }
  type ItemEdge { cursor: ID!  node: Item! }
  type Item { id: ID!  title: String!  owner: User! }
  type Statistics { total: Int!  pending: Int! }
`);
const limits = { maxTokens: 4_000, maxDepth: 12, maxAliases: 30, introspection: true };
const { admit: prepare } = createDocuments({ schema, limits });

function messagesOf(source: string, admit = prepare): string[] {
  try {
    admit(source, /\bQ0\b/.exec(source)?.[0]);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error;
    return error.errors.map(({ message }) => message);
  }
}

/** `me { items { edges { node { owner { … } } } } }`, `levels` fields deep. */
function nested(levels: number): string {
  const cycle = ['items(first: 1)', 'edges', 'node', 'owner'];
  const names = ['me', ...Array.from({ length: levels - 2 }, (_, index) => cycle[index % 4]), '__typename'];
  return `{ ${names.join(' { ')} ${'} '.repeat(levels)}`;
}
const several = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join(' ');
const aliases = (count: number) =>
  `{ me { ...F } } fragment F on User { ${several(count, (index) => `a${index}: name`)} }`;
/** Each operation has five tokens. */
const operations = (count: number) => several(count, (index) => `query Q${index} { __typename }`);

const TOO_LONG = 'The document is too long.';

describe('the limits of a document', () => {
  it.each([
    ['12 levels', nested(12), nested(13), 'The operation is nested too deeply.'],
    ['30 aliases', aliases(30), aliases(31), 'The operation has too many aliases.'],
    ['4,000 tokens', operations(799), operations(801), 'Syntax Error: Document contains more than 4000 tokens.'],
    ['128,000 characters', `{ me { id } }${' '.repeat(127_987)}`, `{ me { id } }${' '.repeat(127_988)}`, TOO_LONG],
    ['10,000 lines', `{ me { id } }${'\n'.repeat(9_999)}`, `{ me { id } }${'\n'.repeat(10_000)}`, TOO_LONG],
    [
      'introspection, but not without end',
      getIntrospectionQuery(),
      `{ __schema { types { fields { type { ${'ofType { '.repeat(20)} name ${'} '.repeat(20)} } } } } }`,
      'The introspection is nested too deeply.',
    ],
  ])('are %s', (_limit, within, beyond, message) => {
    expect(messagesOf(within)).toEqual([]);
    expect(messagesOf(beyond)).toEqual([message]);
  });

  it('are disabled by 0', () => {
    const { admit } = createDocuments({ schema, limits: { ...limits, maxDepth: 0, maxAliases: 0, maxTokens: 0 } });
    for (const source of [nested(16), aliases(60), operations(1_000)]) expect(messagesOf(source, admit)).toEqual([]);
  });

  it('are the stack at most', () => {
    const { admit } = createDocuments({ schema, limits: { ...limits, maxDepth: 0, maxTokens: 0 } });
    const chain = several(9_000, (at) => `fragment F${at} on Query { ...F${at + 1} }`);
    const source = `{ ...F0 } ${chain} fragment F9000 on Query { __typename }`;
    expect(messagesOf(source, admit)).toEqual(['The document is nested too deeply.']);
  });
});

describe('a document', () => {
  const repeated = (count: number, selection: string) => Array<string>(count).fill(selection).join(' ');

  it.each([
    ['equal fields', `{ items { edges { node { ${repeated(1_000, 'id title')} } } } }`],
    ['equal fields with arguments', `{ ${repeated(300, 'item(id: "1") { id title }')} }`],
    ['equal fields with selections', `{ items { ${repeated(600, 'edges { cursor }')} } }`],
    [
      'equal fields with differing selections',
      `{ items { ${repeated(300, 'edges { cursor } edges { node { id } }')} } }`,
    ],
    ['equal fragments', `{ items { ${repeated(1_000, '...F')} } } fragment F on ItemConnection { totalCount }`],
    ['equal inline fragments', `{ items { ${repeated(700, '... { totalCount }')} } }`],
    ['equal conditions', `{ items { ${repeated(450, 'totalCount @skip(if: false)')} } }`],
  ])('may repeat selections within its limits: %s', (_, source) => expect(messagesOf(source)).toEqual([]));

  it.each([
    ['fields of other arguments', '{ item(id: "1") { id } item(id: "2") { id } }'],
    ['fields below each other', '{ items { edges { cursor } edges { cursor: node { id } } } }'],
    ['a field with a selection and without', '{ items items { totalCount } }'],
    ['a fragment in itself', '{ ...F nothing { at } } fragment F on Query { a: __typename ...F }'],
    ['fields in fragments', '{ ...A ...B } fragment A on Query { a: __typename } fragment B on Query { a: me { id } }'],
  ])('must not contradict itself: %s', (_, source) => expect(messagesOf(source)).not.toEqual([]));

  it('with a lone surrogate is refused, also when its twin with a replacement character is cached', () => {
    const { admit } = createDocuments({ schema, limits });
    const textOf = (character: string) => `{ item(id: "${character}") { id } }`;
    expect(messagesOf(textOf('\ufffd'), admit)).toEqual([]);
    expect(messagesOf(textOf('\ud800'), admit)).not.toEqual([]);
  });

  it('has at most 2,000 fields, with fragments counted at each spread', () => {
    const pairs = (levels: number) => {
      const both = (at: number) =>
        ['A', 'B'].map((name) => `fragment ${name}${at} on Statistics { ...A${at + 1} ...B${at + 1} }`);
      const fragments = several(levels, (at) => both(at).join(' '));
      const last = `fragment A${levels} on Statistics { total } fragment B${levels} on Statistics { pending }`;
      return `{ statistics { ...A0 ...B0 } } ${fragments} ${last}`;
    };
    expect(messagesOf(pairs(9))).toEqual([]);
    expect(messagesOf(pairs(10))).toEqual(['The operation has too many fields.']);
    expect(messagesOf(pairs(60))).toEqual(['The operation has too many fields.']);
  });

  it('is cached by its hash once it is valid, as an object for each operation, and is parsed once', () => {
    const two = 'query A { __typename } query B { __typename }';
    expect(prepare(two, 'A')).toBe(prepare(two, 'A'));
    expect(prepare(two, 'A')).not.toBe(prepare(two, 'B'));
    expect(messagesOf(two)).toHaveLength(1);
    const { admit, parsed } = createDocuments({ schema, limits });
    const hashOf = (source: string) => createHash('sha256').update(source).digest('hex');
    for (const invalid of ['{ nothing }', '{']) {
      expect(() => admit(invalid)).toThrow(InvalidOperation);
      expect(parsed(hashOf(invalid))).toBeUndefined();
    }
    const source = '{ __typename }';
    const { document } = admit(source);
    expect(parsed(hashOf(source))).toBe(document);
    expect(admit(source).document).toBe(document);
  });

  it('is refused with an explanation when it needs too many comparisons', () => {
    const fragments = several(1_200, (at) => `fragment F${at} on Query { __typename }`);
    const source = `{ ${several(1_200, (at) => `...F${at}`)} } ${fragments}`;
    const { admit: unlimited } = createDocuments({ schema, limits: { ...limits, maxTokens: 0 } });
    expect(() => unlimited(source)).toThrow('too many overlapping fields and fragments');
  });
});

describe('a document with fragments', () => {
  const fragments = (count: number) =>
    `query Q { ${several(count, (at) => `...F${at}`)} } ${several(count, (at) => `fragment F${at} on Query { __typename }`)}`;

  it('has at most 140 of them, or fewer with several operations', () => {
    expect(messagesOf(fragments(140))).toEqual([]);
    for (const source of [fragments(141), `${fragments(120)} ${operations(50)}`])
      expect(messagesOf(source)).toEqual(['The document has too many fragments.']);
  });

  it('has at most 128,000 characters of arguments, counted at each spread', () => {
    const spread = (aliases: string[]) =>
      `{ ${aliases.map((alias) => `${alias}: me { ...F }`).join(' ')} } fragment F on User { items(after: "${'x'.repeat(60_000)}") { totalCount } }`;
    expect(messagesOf(spread(['a', 'b']))).toEqual([]);
    expect(messagesOf(spread(['a', 'b', 'c']))).toEqual(['The arguments of the operation are too long.']);
  });
});

describe('documents', () => {
  it('are refused by rules of the caller, each once', () => {
    const { admit } = createDocuments({
      ...{ schema, limits, sizes: { counted: new Set(['login']) } },
      rules: ({ name }, { counted }) => (counted > 1 ? [`Q logs in ${counted} times.`] : name ? [] : ['Use a name.']),
    });
    const source =
      'query Q0 { __typename } mutation A { ...L a: login } mutation B { ...L a: login } fragment L on Mutation { login }';
    expect(messagesOf(source, admit)).toEqual(['Q logs in 2 times.']);
    expect(messagesOf('mutation { login }', admit)).toEqual(['Use a name.']);
    expect(messagesOf('mutation A { login }', admit)).toEqual([]);
  });

  it('are dropped when they and their parts need more than their memory', () => {
    const { admit, admitKnown, bytes } = createDocuments({ schema, limits, maxBytes: 100_000 });
    const [first, second] = [admit('{ __typename }'), admit('{ a: __typename }')];
    const own = bytes();
    expect(own).toBe(first.bytes + second.bytes);
    first.partOf('plan', (resized) => resized(49_999.5));
    expect(bytes()).toBe(own + 50_000);
    second.partOf('plan', (resized) => resized(50_000));
    expect(admitKnown('{ __typename }')).toBeUndefined();
    expect(admitKnown('{ a: __typename }')).toBe(second);
    expect(bytes()).toBe(second.bytes);
    expect(admit('{ __typename }')).not.toBe(first);
  });

  it('suggest no names without introspection', () => {
    const { admit } = createDocuments({ schema, limits: { ...limits, introspection: false } });
    expect(messagesOf('{ statistic { total } }')).toEqual([expect.stringContaining('Did you mean "statistics"?')]);
    expect(messagesOf('{ statistic { total } }', admit)).toEqual(['Cannot query field "statistic" on type "Query".']);
    expect(messagesOf('{ __schema { description } }', admit)).toEqual(['Introspection is switched off here.']);
  });
});

it('the operations of a document share its text, and their ids are short and differ', () => {
  const text = `#ā${'x'.repeat(100_000)}\n${operations(50)}`;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const prepared = Array.from({ length: 50 }, (_, at) => prepare(Buffer.from(text).toString(), `Q${at}`));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * text.length);
  expect(new Set(prepared.map(({ id }) => id)).size).toBe(50);
  expect(prepared.every(({ id }) => id.length < 80)).toBe(true);
});

it('an operation with settled conditions is a document of its own', () => {
  const text = `query Other { me { id } }
    query Own($a: Boolean!, $id: ID!) { item(id: $id) { id @skip(if: false) ... @include(if: $a) { ...T } } }
    fragment T on Item { title @skip(if: $a) }`;
  const { admit, settle, bytes } = createDocuments({ schema, limits });
  const [sent, before] = [admit(text, 'Own'), bytes()];
  const [on, off] = [true, false].map((a) => settle(sent, { a, id: '1' }));
  expect(print(on?.document ?? sent.document)).toBe(print(parse(text.replaceAll('if: $a', 'if: true'))));
  expect([on?.operationName, on?.source]).toEqual(['Own', text]);
  expect(settle(sent, { a: true, id: '2' })).toBe(on);
  expect([true, false].map((a) => sent.settledId({ a }))).toEqual([on?.id, off?.id]);
  expect(new Set([sent, on, off].map((each) => each?.id)).size).toBe(3);
  expect(bytes()).toBeGreaterThan(2.9 * before);
  for (const each of [on ?? sent, admit('{ __typename @skip(if: true) }')])
    expect(settle(each, { a: false })).toBe(each);
});
