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
    const giveBack = reserve('ada', bindings('', '', '', ''));
    expect(reserve('ada', bindings('', '', ''))).toBeUndefined();
    expect(reserve('bob', bindings('', '', ''))).toBeDefined();
    expect(reserve('ada', bindings('', ''))).toBeDefined();
    expect(reserve('ada', bindings(''))).toBeUndefined();
    giveBack?.();
    expect(reserve('ada', bindings('', '', '', ''))).toBeDefined();
  });

  it('count a pattern like 40 comparisons', () => {
    const { reserve } = limits({ cost: 40 });
    reserve('ada', bindings('title=ilike.%milk%'));
    expect(reserve('ada', bindings('version=gt.1'))).toBeUndefined();
    expect(reserve('ada', bindings('title=ilike.%milk%'))).toBeDefined();
  });

  it('count a list by its values', () => {
    const { reserve } = limits();
    reserve('ada', bindings(`version=in.(${Array.from({ length: 61 }, (_, n) => n).join()})`));
    expect(reserve('ada', bindings('version=eq.1'))).toBeUndefined();
  });

  it('are limited by the memory of their filters, counting equal filters once', () => {
    const { reserve } = limits({ bytes: 1_500 });
    const first = reserve('ada', bindings(`title=eq.${'x'.repeat(200)}`));
    expect(reserve('ada', bindings(`title=eq.${'x'.repeat(200)}`))).toBeDefined();
    expect(reserve('ada', bindings('title=eq.y'))).toBeUndefined();
    first?.();
  });

  it('are limited by the memory of all users’ filters, unless they take little', () => {
    const { reserve } = limits({ bytes: 10_000, allBytes: 2_500, smallUserBytes: 1_000 });
    const first = reserve('ada', bindings('title=eq.x', 'title=eq.y'));
    expect(reserve('bob', bindings('title=eq.x', 'title=eq.y'))).toBeUndefined();
    expect(reserve('bob', bindings('title=eq.x'))).toBeDefined();
    expect(reserve('ada', bindings('title=eq.y'))).toBeDefined();
    first?.();
    expect(reserve('eve', bindings('title=eq.x', 'title=eq.y'))).toBeUndefined();
    expect(reserve('eve', bindings('title=eq.x'))).toBeDefined();
  });

  it('are limited by conditions, counting equal filters once', () => {
    const { reserve } = limits();
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

  it('are not released twice by a channel without bindings', () => {
    const { reserve } = limits();
    const nothing = reserve('ada', []);
    reserve('ada', bindings('', '', ''))?.();
    reserve('ada', bindings('', '', '', '', '', ''));
    nothing?.();
    expect(reserve('ada', bindings(''))).toBeUndefined();
  });
});
