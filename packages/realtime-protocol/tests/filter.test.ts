import { compileFilter } from '../src/filter.ts';
import { compileLike } from '../src/like.ts';
import type { Row } from '../src/table.ts';
import { TASKS } from './world.ts';

const row: Row = {
  id: '0198f000-0000-7000-8000-000000000001',
  user_id: '0198f000-0000-7000-8000-000000000002',
  title: 'Buy milk, eggs (12)',
  description: null,
  completed: false,
  due_date: '2026-01-02T03:04:05.000Z',
  category: 'home',
  priority: 'high',
  version: 12,
};

const isWithin = (text: string) => compileFilter(text, TASKS)?.test(row) ?? true;

describe('the filter of a channel', () => {
  it.each([
    ['', true],
    ['version=eq.12', true],
    ['completed=neq.True', true],
    ['completed=not.is.true', true],
    ['priority=neq.low', true],
    ['title=in.(x,"Buy milk, eggs (12)")', true],
    ['category=in.( home )', true],
    ['category=in.(" home")', false],
    ['category=in.(ho\\me)', true],
    ['category=in.()', false],
    ['category=not.in.( )', true],
    ['description=not.in.()', true],
    ['category=not.in.(null,work)', false],
    ['category=in.(""),priority=eq.high', false],
    ['title=in.(x, "a)", "Buy milk, eggs (12)"),priority=eq.low', false],
    ['category=eq. home', false],
    ['category=eq."home "', false],
    [' category=eq.home , priority=eq.high ', true],
    ['version=eq. 12', true],
    ['completed=is.FALSE', true],
    ['title=ilike.buy%EGGS%', true],
    ['title=neq.:),category=eq.work', false],
    ['title=like.%(%', true],
    ['title=neq.(a,b),category=eq.home', true],
    ['category=eq.home,priority=eq.low', false],
    ['due_date=gt.2026-01-02T03:04:04+00:00', true],
    ['due_date=eq.2026-01-02 04:04:05+01', true],
    ['due_date=lt.2026-01-02', false],
    ['due_date=lt.2026-01-02 05:04+02', false],
    ['id=eq.0198F000-0000-7000-8000-000000000001', true],
    ['description=is.null', true],
    ['description=not.is.null', false],
    ['description=isdistinct.null', false],
  ])('%s is %s', (filter, expected) => expect(isWithin(filter)).toBe(expected));

  it.each([
    'description=eq.x',
    'description=neq.x',
    'description=not.eq.x',
    'description=like.%',
    'description=in.(x)',
  ])('neither includes nor excludes a NULL: %s', (filter) => expect(isWithin(filter)).toBe(false));

  it.each([
    ['owner=eq.1', /unknown column: owner/],
    ['title=near.x', /unknown operator: near/],
    ['title=match.(a+)+$', /unknown operator: match/],
    ['version=eq.twelve', /no value for version/],
    ['completed=eq.yes', /no value for completed/],
    ['completed=eq.constructor', /no value for completed/],
    ['due_date=gt.yesterday', /no value for due_date/],
    ['id=eq.1', /no value for id/],
    ['title=is.true', /cannot be compared/],
    ['title=eq.x,', /malformed/],
    ['title', /malformed/],
    ['category=in.(home,,work)', /malformed list/],
    ['category=in.("home"x)', /malformed list/],
    ['category=in.(home\\)', /malformed list/],
    ['title=eq."open', /quote/],
    ['title=eq."open,priority=eq.low', /quote/],
    ['title=neq.:(,category=eq.work', /parenthesis is not closed/],
    ['category=in.(home,priority=eq.low', /parenthesis is not closed/],
    ['due_date=is.secret', /cannot be compared/],
    [`title=eq.${'x'.repeat(4_000)}`, /at most 4000 characters/],
    [Array.from({ length: 21 }, () => 'version=gt.1').join(), /at most 20 conditions/],
    [`title=like.${'_'.repeat(101)}`, /at most 100 characters/],
    [`version=in.(${Array.from({ length: 101 }, (_, n) => n).join()})`, /at most 100/],
  ])('rejects %s', (filter, reason) => expect(() => compileFilter(filter, TASKS)).toThrow(reason));

  it('knows every name that a column can have', () => {
    const table = { name: 'notes', columns: [{ name: 'dueDate2', type: 'int4' as const }] };
    expect(compileFilter('dueDate2=gt.1', table)?.test({ dueDate2: 2 })).toBe(true);
  });

  it.each([
    'title=eq."secret',
    'title-secret',
    'version=eq.secret',
    'completed=is.secret',
    `${'secret_'.repeat(20)}=eq.1`,
  ])('does not repeat a possible value in its error: %s', (filter) => {
    const refused = () => compileFilter(filter, TASKS);
    expect(refused).toThrow();
    expect(refused).not.toThrow(/secret/);
  });
});

describe('LIKE', () => {
  it.each([
    ['100\\%', '100%', true],

    ['a\\', 'a\\', true],
    ['_', '😀', true],
    ['😀_😀', '😀😀😀', true],
  ])('matches %j against %j: %s', (pattern, text, expected) => expect(compileLike(pattern)(text)).toBe(expected));

  it('agrees with a backtracking regular expression for every short pattern', () => {
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

  it.each([31, 32, 33, 63, 64, 65, 96])('matches a pattern of %s tokens', (length) => {
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
    // The system may not measure shorter times at all.
    const MEASURABLE_US = 100;
    const plain = costOf(`${'a'.repeat(98)}%b`);
    for (const slow of [`${'%a'.repeat(49)}%b`, `%${'a'.repeat(98)}b`, `%${'_a'.repeat(49)}b`])
      expect(costOf(slow)).toBeLessThan(20 * Math.max(plain, MEASURABLE_US));
  });
});
