import { createBindingLimits } from '../src/channels.ts';
import { readBinding } from '../src/join.ts';
import { SERVED } from './world.ts';

const bindings = (...filters: string[]) => filters.map((filter) => readBinding({ event: '*', filter }, SERVED));
const selecting = (...select: string[]) => [readBinding({ event: '*', select }, SERVED)];
const limits = (more = {}) =>
  createBindingLimits({ bindings: 6, cost: 4, bytes: 10_000, allBytes: 100_000, smallUserBytes: 1_000, ...more });

describe('the bindings of a user', () => {
  it('are limited per user until they are released', () => {
    const { reserve } = limits();
    const nothing = reserve('ada', []);
    const giveBack = reserve('ada', bindings('', '', '', ''));
    expect(reserve('ada', bindings('', '', ''))).toBeUndefined();
    expect(reserve('bob', bindings('', '', ''))).toBeDefined();
    expect(reserve('ada', bindings('', ''))).toBeDefined();
    nothing?.();
    expect(reserve('ada', bindings(''))).toBeUndefined();
    giveBack?.();
    expect(reserve('ada', bindings('', '', '', ''))).toBeDefined();
  });

  it('count a pattern like 40 comparisons, and a list by its values', () => {
    const { reserve } = limits({ cost: 40, bindings: 100 });
    reserve('ada', bindings('title=ilike.%milk%'));
    expect(reserve('ada', bindings('version=gt.1'))).toBeUndefined();
    expect(reserve('ada', bindings('title=ilike.%milk%'))).toBeDefined();
    reserve('bob', bindings(`version=in.(${Array.from({ length: 100 }, (_, n) => n).join()})`));
    expect(reserve('bob', bindings(...Array.from({ length: 36 }, (_, n) => `version=eq.${n}`)))).toBeUndefined();
  });

  it('are limited by the memory of a user’s filters, counting equal ones once, and of all users’, unless they take little', () => {
    const one = limits({ bytes: 1_500 });
    for (let times = 0; times < 2; times++)
      expect(one.reserve('ada', bindings(`title=eq.${'x'.repeat(200)}`))).toBeDefined();
    expect(one.reserve('ada', bindings('title=eq.y'))).toBeUndefined();
    const { reserve } = limits({ allBytes: 2_500 });
    const [little, much] = [bindings('title=eq.y'), bindings('title=eq.x', 'title=eq.y')];
    const first = reserve('ada', much);
    const taken = (by: string) => [reserve(by, much), reserve(by, little), reserve('ada', little)].map(Boolean);
    expect(taken('bob')).toEqual([false, true, true]);
    first?.();
    expect(taken('eve')).toEqual([false, true, true]);
  });

  it('are limited by conditions, counting equal filters once', () => {
    const { reserve } = limits({ bindings: 9 });
    reserve('ada', bindings('')); // so that something is left of this user
    const two = 'version=gt.1,version=lt.9';
    const first = reserve('ada', bindings(two, two));
    const second = reserve('ada', bindings(two));
    expect(reserve('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeUndefined();
    first?.();
    expect(reserve('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeUndefined();
    second?.();
    expect(reserve('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeDefined();
  });

  it('share equal sets of columns', () => {
    const [[one], [other]] = [selecting('title', 'version'), selecting('version', 'title', 'id')];
    expect(one?.select).toBe(other?.select);
  });

  it('are limited by distinct sets of columns, in any order', () => {
    const { reserve } = limits({ bindings: 9, cost: 20 });
    const first = reserve('ada', selecting('title', 'version'));
    expect(reserve('ada', selecting('version', 'title', 'id'))).toBeDefined();
    reserve('ada', selecting('title'));
    expect(reserve('ada', selecting('version'))).toBeUndefined();
    expect(reserve('ada', bindings(''))).toBeDefined();
    expect(reserve('ada', selecting('title'))).toBeDefined();
    first?.();
    expect(reserve('ada', selecting('version'))).toBeUndefined(); // the binding with the other order still holds it
  });
});
