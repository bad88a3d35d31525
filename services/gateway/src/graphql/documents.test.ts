import { coerceVariables } from '@taskmesh/federation';
import { getIntrospectionQuery } from 'graphql';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGatewayConfig } from '../config.ts';
import { InvalidOperation } from '../supergraph/operation.ts';
import { openSupergraph } from '../supergraph/supergraph.ts';
import { createDocuments } from './documents.ts';

const { initial } = await openSupergraph(undefined);
const config = readGatewayConfig({ NODE_ENV: 'test' }).graphql;
const { admit: prepare } = createDocuments({ schema: initial.schema, config });

function costOf(source: string, variables: Record<string, unknown> = {}): number {
  const operation = prepare(source);
  return operation.cost(coerceVariables(operation, variables));
}

function messagesOf(source: string, admit = prepare): string[] {
  try {
    admit(source, /\bQ0\b/.exec(source)?.[0]);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error;
    return error.errors.map(({ message }) => message);
  }
}

/** The rows of the cost table in docs/limits.md. */
const examples = readFileSync(join(import.meta.dirname, '../../../../docs/limits.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, source, variables, cost] = /^\| `(.*)` \| (?:`(.*)`)? ?\| ([\d,]+) \|$/.exec(line) ?? [];
    return source && /[{]/.test(source) ? [{ source, variables: variables ?? '{}', cost: Number(cost) }] : [];
  });

describe('the cost of an operation', () => {
  it('has examples in the documentation', () => {
    expect(examples.length).toBeGreaterThan(8);
  });

  it.each(examples)('$source with $variables is $cost', ({ source, variables, cost }) => {
    expect(costOf(source, JSON.parse(variables) as Record<string, unknown>)).toBe(cost);
  });
});

/** `me { tasks { edges { node { owner { … } } } } }`, `levels` fields deep. */
function nested(levels: number): string {
  const cycle = ['tasks(first: 1)', 'edges', 'node', 'owner'];
  const names = ['me', ...Array.from({ length: levels - 2 }, (_, index) => cycle[index % 4]), '__typename'];
  return `{ ${names.join(' { ')} ${'} '.repeat(levels)}`;
}
const several = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join(' ');
const aliases = (count: number) => `{ ${several(count, (index) => `a${index}: taskStatistics { total }`)} }`;
/** Each operation has five tokens. */
const operations = (count: number) => several(count, (index) => `query Q${index} { __typename }`);
const LOGIN = 'login(input: { email: "x", password: "x" }) { expiresIn }';
const SIGN_IN = 'signInWithCode(input: { code: "x", verifier: "x", password: "x" }) { expiresIn }';
const LINK = 'linkIdentity(input: { code: "x", verifier: "x", password: "x" }) { id }';
const ONE_PASSWORD = 'An operation may have one mutation that proves or replaces a password, an address or a token.';

describe('the limits of a document', () => {
  it.each([
    ['12 levels', nested(12), nested(13), 'The operation is nested too deeply.'],
    ['30 aliases', aliases(30), aliases(31), 'The operation has too many aliases.'],
    ['4,000 tokens', operations(799), operations(801), 'Syntax Error: Document contains more than 4000 tokens.'],
    [
      'introspection, but not without end',
      getIntrospectionQuery(),
      `{ __schema { types { fields { type { ${'ofType { '.repeat(20)} name ${'} '.repeat(20)} } } } } }`,
      'The introspection is nested too deeply.',
    ],
    ['one password', `mutation { ${LOGIN} }`, `mutation { a: ${LOGIN} b: ${LOGIN} }`, ONE_PASSWORD],
    [
      'one password by mail',
      `mutation { ${LOGIN} }`,
      `mutation { ${LOGIN} requestPasswordReset(email: "x") }`,
      ONE_PASSWORD,
    ],
    ['one password with a code', `mutation { ${SIGN_IN} }`, `mutation { ${SIGN_IN} ${LINK} }`, ONE_PASSWORD],
  ])('are %s', (_limit, within, beyond, message) => {
    expect(messagesOf(within)).toEqual([]);
    expect(messagesOf(beyond)).toEqual([message]);
  });

  it('are disabled by 0', () => {
    const off = { ...config, maxDepth: 0, maxAliases: 0, maxTokens: 0 };
    const { admit } = createDocuments({ schema: initial.schema, config: off });
    for (const source of [nested(16), aliases(60), operations(1_000)]) expect(messagesOf(source, admit)).toEqual([]);
  });
});

describe('a document', () => {
  const repeated = (count: number, selection: string) => Array<string>(count).fill(selection).join(' ');

  it.each([
    ['equal fields', `{ tasks { edges { node { ${repeated(1_000, 'id title')} } } } }`],
    ['equal fields with arguments', `{ ${repeated(300, 'task(id: "1") { id title }')} }`],
    ['equal fields with selections', `{ tasks { ${repeated(600, 'edges { cursor }')} } }`],
    [
      'equal fields with differing selections',
      `{ tasks { ${repeated(300, 'edges { cursor } edges { node { id } }')} } }`,
    ],
    ['equal fragments', `{ tasks { ${repeated(1_000, '...F')} } } fragment F on TaskConnection { totalCount }`],
    ['equal inline fragments', `{ tasks { ${repeated(700, '... { totalCount }')} } }`],
    ['equal conditions', `{ tasks { ${repeated(450, 'totalCount @skip(if: false)')} } }`],
  ])('may repeat selections within its limits: %s', (_, source) => {
    expect(messagesOf(source)).toEqual([]);
  });

  it.each([
    ['fields of other arguments', '{ task(id: "1") { id } task(id: "2") { id } }'],
    ['fields below each other', '{ tasks { edges { cursor } edges { cursor: node { id } } } }'],
    ['a field with a selection and without', '{ tasks tasks { totalCount } }'],
    ['fields in fragments', '{ ...A ...B } fragment A on Query { a: __typename } fragment B on Query { a: me { id } }'],
  ])('must not contradict itself: %s', (_, source) => {
    expect(messagesOf(source)).not.toEqual([]);
  });

  it('has at most 2,000 fields, with fragments counted at each spread', () => {
    const pairs = (levels: number) => {
      const fragments = Array.from(
        { length: levels },
        (_, index) =>
          `fragment A${index} on TaskStatistics { ...A${index + 1} ...B${index + 1} } ` +
          `fragment B${index} on TaskStatistics { ...A${index + 1} ...B${index + 1} }`,
      ).join(' ');
      const last = `fragment A${levels} on TaskStatistics { total } fragment B${levels} on TaskStatistics { pending }`;
      return `{ taskStatistics { ...A0 ...B0 } } ${fragments} ${last}`;
    };
    expect(messagesOf(pairs(9))).toEqual([]);
    expect(messagesOf(pairs(10))).toEqual(['The operation has too many fields.']);
    expect(messagesOf(pairs(60))).toEqual(['The operation has too many fields.']);
  });

  it('is the same object while it is cached, one for each operation', () => {
    const source = 'query A { __typename } query B { __typename }';
    expect(prepare(source, 'A')).toBe(prepare(source, 'A'));
    expect(prepare(source, 'A')).not.toBe(prepare(source, 'B'));
    expect(messagesOf(source)).toHaveLength(1);
  });

  it('is cached by its hash once it is valid, and is parsed once', () => {
    const { admit, parsed } = createDocuments({ schema: initial.schema, config });
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

  it('is not confused with another one whose concatenated name and text are the same', () => {
    const named = 'query\n{ __typename }';
    prepare(named);
    expect(prepare(named).source).toBe(named);
    expect(() => prepare('{ __typename }', 'query')).toThrow('There is no such operation in the document.');
  });

  it('is refused with an explanation when it needs too many comparisons', () => {
    const names = Array.from({ length: 1_200 }, (_, index) => `F${index}`);
    const source = `{ ${names.map((name) => `...${name}`).join(' ')} }
      ${names.map((name) => `fragment ${name} on Query { __typename }`).join(' ')}`;
    const { admit: unlimited } = createDocuments({ schema: initial.schema, config: { ...config, maxTokens: 0 } });
    expect(() => unlimited(source)).toThrow('too many overlapping fields and fragments');
  });
});

describe('a document with fragments', () => {
  const fragments = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `F${at}`);
    const spread = `query Q { ${names.map((name) => `...${name}`).join(' ')} }`;
    return `${spread} ${names.map((name) => `fragment ${name} on Query { __typename }`).join(' ')}`;
  };
  it('has at most 140 of them, or fewer with several operations', () => {
    expect(messagesOf(fragments(140))).toEqual([]);
    expect(messagesOf(fragments(141))).toEqual(['The document has too many fragments.']);
    const beside = `${fragments(120)} ${operations(50)}`;
    expect(messagesOf(beside)).toEqual(['The document has too many fragments.']);
  });

  it('has at most 128,000 characters of arguments, counted at each spread', () => {
    const spread = (aliases: string[]) =>
      `{ ${aliases.map((alias) => `${alias}: me { ...F }`).join(' ')} } fragment F on User { tasks(after: "${'x'.repeat(60_000)}") { totalCount } }`;
    expect(messagesOf(spread(['a', 'b']))).toEqual([]);
    expect(messagesOf(spread(['a', 'b', 'c']))).toEqual(['The arguments of the operation are too long.']);
  });
});
