import { isExactInteger, parseExactJson } from '../src/index.ts';
import { leastCpuMs } from './cpu-ms.ts';

/** The reference: a reviver that receives the source of each value. Simple, but tens of times as expensive as parsing. */
function parsePlainly(text: string): unknown {
  const keepExact = (_key: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? JSON.rawJSON(source) : value;
  return JSON.parse(text, keepExact as (key: string, value: unknown) => unknown);
}

const LARGE = '9007199254740993';

it.each([
  LARGE,
  ` -${LARGE} `,
  `[${LARGE},-${LARGE},9007199254740991,9007199254740992,1]`,
  `[1.${LARGE},${LARGE}.5,${LARGE}e2,1e${LARGE},-0,0.0,123456789012345678901234567890]`,
  `{"a":${LARGE},"b":[{"c":[[],{},${LARGE}]},"${LARGE}"],"${LARGE}":{"":${LARGE}},"7":${LARGE}}`,
  `{"a \\" , ${LARGE}":[true,null,false,${LARGE}],"\\u0061\\\\":${LARGE},"\\\\\\"":"\\\\\\" ${LARGE}"}`,
  `{"a":[{"b":${LARGE}}],"a":{"b":1},"c":1,"c":${LARGE},"d":${LARGE},"d":"x","e":{"f":${LARGE}},"e":{"f":${LARGE}1}}`,
  `{"a":[[${LARGE}]],"a":{"0":${LARGE}},"b":{"c":{"d":${LARGE}}},"b":{"c":${LARGE}},"e":[[${LARGE}]],"e":null}`,
  `{"__proto__":{"a":${LARGE}},"constructor":${LARGE},"a":{"constructor":{"MAX_VALUE":${LARGE}}},"a":5}`,
  `{ "é€😀" : [ "😀" ,\n\t${LARGE} ] , "x" : ${LARGE}\r\n}`,
])('preserves the large integers of %j, and only those', (text) => {
  expect(JSON.stringify(parseExactJson(text))).toBe(JSON.stringify(parsePlainly(text)));
});

it.each([`0${LARGE}`, `[${LARGE}`, `{${LARGE}:1}`, `"a"${LARGE}`, `1 ${LARGE}`, `[+${LARGE}]`, `["${LARGE}]`])(
  'rejects %j',
  (text) => expect(() => parseExactJson(text)).toThrow(SyntaxError),
);

it('rejects large integers nested deeper than 5,000 levels', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${LARGE}${']'.repeat(levels)}`;
  expect(() => parseExactJson(nested(6_000))).toThrow(RangeError);
  expect(isExactInteger([parseExactJson(nested(4_000))].flat(Infinity)[0])).toBe(true);
});

const costOf = (parse: (text: string) => unknown, text: string, rounds = 8) => {
  parse(text);
  return leastCpuMs(rounds, () => void parse(text));
};

it.each(['1', '{}', '[]', '{"":1}', '"a"', '"\\""'])(
  'costs little more than parsing, for a large integer after many %s',
  (item) => {
    const text = `[${`${item},`.repeat(2 ** 20 / (item.length + 1))}${LARGE}]`;
    expect(costOf(parseExactJson, text)).toBeLessThan(8 * costOf(JSON.parse, text));
  },
);

it.each([
  ['objects', '{"k":', '}'],
  ['objects with long keys', `{"${'k'.repeat(300)}":`, '}'],
  ['lists', '[', ']'],
])('costs the same for a value that a repeated key replaces: nested %s', (_name, begin, end) => {
  const deep = `${begin.repeat(1_000)}[${`${LARGE},`.repeat(10_000)}1]${end.repeat(1_000)}`;
  const keptMs = costOf(parseExactJson, `{"x":${deep}}`, 2);
  expect(costOf(parseExactJson, `{"x":${deep},"x":null}`, 2)).toBeLessThan(4 * keptMs);
});
