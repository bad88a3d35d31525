import type { AskSubgraph } from '../src/index.ts';
import { graphOf, runOn } from './world.ts';

const graph = graphOf({
  one: `
    scalar Any
    enum Color { RED }
    input Filter { any: Any number: Int size: Float color: Color id: ID }
    type Query { find(any: Any, filter: Filter, size: Float, id: ID, color: Color): Thing }
    type Mutation { change(any: Any): Thing }
    type Thing @key(fields: "id") { id: ID! }
  `,
  two: 'scalar Any type Thing @key(fields: "id") { id: ID! part(any: Any): Int }',
});

/** The operations that the services receive, for an operation that needs both. */
async function asked(source: string, variables: Record<string, unknown> = {}) {
  const texts: string[] = [];
  const ask: AskSubgraph<unknown> = async ({ operation: { text, kind, service } }) => {
    texts.push(text);
    if (service === 'two') return { data: { _entities: [{ part: 1 }] } };
    return { data: { [kind === 'mutation' ? 'change' : 'find']: { __typename: 'Thing', id: '1' } } };
  };
  await runOn(graph, source, ask, variables);
  return texts;
}

describe('literals reach services as the client wrote them', () => {
  it.each([
    '9007199254740993',
    '-9223372036854775808',
    '-0',
    '0.12345678901234567890',
    '1.10',
    '1e400',
    'RED',
    '"9007199254740993"',
    '["literal 0", RED, "literal 00"]',
    '[1, 9007199254740993, [RED]]',
    '{deep: {number: 9007199254740993, name: RED, text: "RED"}, flag: true, none: null}',
  ])('for a custom scalar: %s', async (literal) => {
    const [first, second] = await asked(`{ find(any: ${literal}) { id part(any: ${literal}) } }`);
    for (const text of [first, second]) expect(withoutBlanks(text)).toContain(`(any:${withoutBlanks(literal)})`);
    const [changed] = await asked(`mutation { change(any: ${literal}) { id } }`);
    expect(withoutBlanks(changed)).toContain(`(any:${withoutBlanks(literal)})`);
  });

  it('for a custom scalar beside variables and in inputs', async () => {
    const [text] = await asked(
      'query ($n: Int, $any: Any = 9007199254740993) { find(filter: { any: [$any, 9007199254740993, RED], number: $n }) { id } }',
      { n: 1, any: 2 },
    );
    expect(withoutBlanks(text)).toContain('any:[$any,9007199254740993,RED],number:$n');
  });

  it('for all other types', async () => {
    const [text] = await asked(
      '{ find(size: 9007199254740993, id: 9007199254740993, color: RED, filter: { size: 1.10, color: RED, id: "7" }) { id } }',
    );
    expect(withoutBlanks(text)).toMatch(/size:900719925474099[23],?id:9007199254740993,?color:RED/);
    expect(withoutBlanks(text)).toMatch(/size:1\.10?,?color:RED,?id:"?7"?/);
  });
});

const withoutBlanks = (text = '') => text.replaceAll(/\s/g, '');
