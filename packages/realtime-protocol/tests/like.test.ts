import { compileLike } from '../src/like.ts';

describe('LIKE', () => {
  it.each([
    ['buy%', 'Buy milk', false],
    ['100\\%', '100%', true],
    ['100\\%', '1000', false],
    ['a\\', 'a\\', true],
    ['_', '😀', true],
    ['😀_😀', '😀😀😀', true],
  ])('%j fits %j: %s', (pattern, text, expected) => expect(compileLike(pattern)(text)).toBe(expected));

  it('says the same as an expression that goes back, for every pattern of few characters', () => {
    const all = (alphabet: string, length: number): string[] =>
      length === 0 ? [''] : all(alphabet, length - 1).flatMap((start) => [...alphabet].map((end) => start + end));
    const upTo = (alphabet: string, length: number) => Array.from({ length }, (_, n) => all(alphabet, n)).flat();
    const texts = upTo('ab', 6);
    for (const pattern of upTo('ab_%', 5)) {
      const like = compileLike(pattern);
      const expression = new RegExp(`^${pattern.replaceAll('%', '.*').replaceAll('_', '.')}$`);
      expect([pattern, texts.filter(like)]).toEqual([pattern, texts.filter((text) => expression.test(text))]);
    }
  });

  it.each([31, 32, 33, 63, 64, 65, 96])('finds a pattern of %s tokens', (length) => {
    const text = Array.from({ length }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
    for (const pattern of [text, `%${text}%`, `${text.slice(0, -1)}_`, `_${text.slice(1)}%`])
      expect([compileLike(pattern)(text), compileLike(pattern)(`${text.slice(0, -1)}!`)]).toEqual([
        true,
        pattern.endsWith('_'),
      ]);
    expect(compileLike(`%${text}%`)(`${'ab'.repeat(200)}${text}cd`)).toBe(true);
  });

  it('takes no longer for a hostile pattern', () => {
    const text = 'a'.repeat(2_000);
    const costOf = (pattern: string) => {
      const like = compileLike(pattern);
      const runs = Array.from({ length: 20 }, () => {
        const before = process.cpuUsage();
        for (let count = 0; count < 10; count++) like(text);
        return process.cpuUsage(before).user;
      });
      return Math.min(...runs);
    };
    // Below it, the system may count nothing at all.
    const MEASURABLE_US = 100;
    const plain = costOf(`${'a'.repeat(98)}%b`);
    for (const slow of [`${'%a'.repeat(49)}%b`, `%${'a'.repeat(98)}b`, `%${'_a'.repeat(49)}b`])
      expect(costOf(slow)).toBeLessThan(20 * Math.max(plain, MEASURABLE_US));
  });
});
