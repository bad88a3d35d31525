import { parse } from 'graphql';
import { createFederatedExecutor } from '../src/index.ts';
import { leastCpuMs } from './cpu-ms.ts';
import { graphOf } from './world.ts';

const graph = graphOf({
  one: `
    type Query { thing(text: String): Thing }
    type Thing @key(fields: "id") { id: ID! part(text: String): Thing }
  `,
});
const executor = createFederatedExecutor(graph, async () => ({ data: null }));

function costOf(source: string): number {
  const document = parse(source);
  return leastCpuMs(4, () => executor.compile(document));
}

const times = (count: number, text: string) => `${text} `.repeat(count);
const thing = (text: string) => `{ thing(text: "${text}") { id } }`;

/** The maximum cost of the following documents, as a multiple of an ordinary document of the same length. */
const FACTOR = 5;

describe('compiling a document takes time proportional to its length', () => {
  it('with strings of any prefix', () => {
    expect(costOf(thing(`literal ${' '.repeat(20_000)}`)) / costOf(thing('x'.repeat(20_008)))).toBeLessThan(FACTOR);
  });

  const long = 'x'.repeat(50_000);
  const spread = (count: number) => `{ thing { ${times(count, '...A')} } }
    fragment A on Thing { ${times(count, '...B')} } fragment B on Thing { part(text: "${long}") { id } }`;

  it('wherever fragments with long arguments are spread', () => {
    expect(costOf(spread(63)) / costOf(spread(1))).toBeLessThan(FACTOR);
  });

  it('however often fragments spread each other', () => {
    const levels = Array.from({ length: 12 }, (_, at) => `fragment F${at} on Thing { ...F${at + 1} ...F${at + 1} }`);
    const doubled = `{ thing { ...F0 } } ${levels.join(' ')} fragment F12 on Thing { id part { id } }`;
    const single = doubled.replaceAll(/(\.\.\.F\d+) \.\.\.F\d+/g, '$1');
    expect(costOf(doubled) / costOf(single)).toBeLessThan(FACTOR);
  });
});
