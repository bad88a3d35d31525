import fc from 'fast-check';
import { buildSchema, getVariableValues, GraphQLError, type OperationDefinitionNode, parse, validate } from 'graphql';
import {
  coerceVariables,
  createParts,
  parseExactJson,
  type PartOf,
  type ValidOperation,
  withExactLiterals,
} from '../src/index.ts';

describe('variables', () => {
  const schema = withExactLiterals(
    buildSchema(`
    scalar Any
    enum Color { RED }
    input Point { x: Int!, y: [Float!], next: Point, color: Color = RED }
    input Choice @oneOf { a: Int, b: Int }
    type Query { ask(p: Point, ps: [[Point!]!], c: Choice, a: Any, n: Int): Int  count(n: Int!): Int }
  `),
  );

  function validOperation(source: string): ValidOperation {
    const document = parse(source);
    expect(validate(schema, document)).toEqual([]);
    return { schema, document, operation: document.definitions[0] as OperationDefinitionNode }; // the only one
  }

  function issuesFor(variables: Record<string, unknown> | null): unknown {
    const source = 'query ($p: Point, $ps: [[Point!]!], $c: Choice, $a: Any) { ask(p: $p, ps: $ps, c: $c, a: $a) }';
    try {
      coerceVariables(validOperation(source), variables);
      return [];
    } catch (error) {
      return (error as { extensions: { issues: { path: string }[] } }).extensions.issues.map(({ path }) => path);
    }
  }

  it.each<[Record<string, unknown> | null, string[]]>([
    [null, []],
    [{ p: { x: 1, y: [1, 2.5], next: { x: 2 } }, ps: [[{ x: 1 }]], c: { a: 1 }, a: { any: ['thing'] } }, []],
    [{ p: { x: 1, y: 2 }, ps: { x: 1 } }, []],
    [{ p: null, ps: null, c: null, a: null }, []],
    [{ p: {} }, ['p.x']],
    [{ p: { x: null, y: [1, null, 'no'] } }, ['p.x', 'p.y.1', 'p.y.2']],
    [
      { p: { x: 1, next: { x: 1, next: { x: 'no', color: 'BLUE', z: 1 } } } },
      ['p.next.next.x', 'p.next.next.color', 'p.next.next.z'],
    ],
    [{ ps: [[{ x: 1 }, null], null, 5] }, ['ps.0.1', 'ps.1', 'ps.2']],
    [{ c: {} }, ['c']],
    [{ c: { a: 1, b: 2 } }, ['c']],
    [{ c: { a: null } }, ['c']],
    [{ p: [1] }, ['p']],
    [{ p: { x: 1e12 } }, ['p.x']],
    [{ a: { any: [{ thing: Infinity }] } }, ['a']],
  ])('%j are wrong at %j', (variables, paths) => expect(issuesFor(variables)).toEqual(paths));

  it('may be nested in 100 levels', () => {
    const nested = (levels: number, outer: (inner: unknown) => unknown) =>
      Array.from({ length: levels }).reduce(outer, undefined);
    const points = (levels: number) => nested(levels, (next = null) => ({ x: 1, next }));
    expect(issuesFor({ p: points(100) })).toEqual([]);
    expect(issuesFor({ p: points(100_000), a: nested(100_000, (any) => [any]) })).toEqual([
      `p${'.next'.repeat(100)}`,
      'a',
    ]);
  });

  it('are coerced as by graphql-js, or rejected where it rejects them', () => {
    const source = 'query ($p: Point, $ps: [[Point!]!], $c: Choice, $n: Int = 3) { ask(p: $p, ps: $ps, c: $c, n: $n) }';
    const valid = validOperation(source);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { withCrossShrink: true },
        fc.constantFrom(null, 1, 1.5, 1e12, 'text', 'RED', true),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.record({ x: fc.constantFrom(1, 'text') }, { requiredKeys: [] }),
        fc.record({ x: fc.nat(9), y: tie('value'), next: tie('value'), color: tie('value') }, { requiredKeys: ['x'] }),
        fc.record({ a: tie('value'), b: tie('value') }, { requiredKeys: [] }),
      ),
    }));
    const variables = fc.record({ p: value, ps: value, c: value, n: value }, { requiredKeys: [] });
    fc.assert(
      fc.property(variables, (given) => {
        const { coerced, errors } = getVariableValues(schema, valid.operation.variableDefinitions ?? [], given);
        if (errors) expect(() => coerceVariables(valid, given)).toThrow();
        else expect(coerceVariables(valid, given)).toEqual(coerced);
      }),
      { numRuns: 1_000 },
    );
  });

  it('get at most ten issues, whose length does not grow with names', () => {
    expect(issuesFor({ p: { x: 1, y: Array<string>(1_000).fill('no') } })).toHaveLength(10);
    const [path] = issuesFor({ p: { x: 1, ['n'.repeat(100_000)]: 1 } }) as [string];
    expect(path.length).toBeLessThan(100);
  });

  it('must not be null where the document needs a value, even with a default', () => {
    const source = 'query ($a: Any, $n: Int = 3) { count(n: $n) ask(a: $a) }';
    const made: string[] = [];
    const parts = createParts();
    const partOf = Object.assign((...[name, make]: Parameters<PartOf>) => (made.push(name), parts(name, make)), parts);
    const valid = { ...validOperation(source), partOf: partOf as PartOf };
    expect(coerceVariables(valid, {})).toEqual({ n: 3 });
    expect(made).toEqual([]);
    expect(coerceVariables(valid, { a: null })).toEqual({ a: null, n: 3 });
    expect(() => coerceVariables(valid, { a: null, n: null })).toThrow('n must not be null.');
    expect(() => coerceVariables(validOperation(source), { n: null })).toThrow('n must not be null.');
  });

  it('stay exact for custom scalars, as do their defaults', () => {
    const valid = validOperation('query ($a: Any, $b: Any = 9007199254740993) { ask(a: $a) b: ask(a: $b) }');
    const sent = parseExactJson('{ "a": [9007199254740993] }') as Record<string, unknown>;
    expect(JSON.stringify(coerceVariables(valid, sent))).toBe('{"a":[9007199254740993],"b":9007199254740993}');
  });

  it('throw a GraphQLError, or an error of the caller', () => {
    const valid = validOperation('query ($p: Point) { ask(p: $p) }');
    const issues = [{ path: 'p.x', message: 'p.x must be of type Int.' }];
    const sent = { p: { x: 'secret' } };
    expect(() => coerceVariables(valid, sent)).toThrow(
      new GraphQLError('p.x must be of type Int.', { extensions: { code: 'BAD_USER_INPUT', issues } }),
    );
    expect(() => coerceVariables(valid, sent, (given) => new Error(JSON.stringify(given)))).toThrow(
      JSON.stringify(issues),
    );
  });
});
