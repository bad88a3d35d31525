import { createBindingLimits } from '../src/channels.ts';
import { readBinding } from '../src/join.ts';
import { SERVED } from './world.ts';

const bindings = (...filters: string[]) => filters.map((filter) => readBinding({ event: '*', filter }, SERVED));
const selecting = (...select: string[]) => [readBinding({ event: '*', select }, SERVED)];
const limits = (more = {}) =>
  createBindingLimits({ bindings: 6, cost: 4, bytes: 10_000, allBytes: 100_000, littleBytes: 1_000, ...more });

describe('the bindings of a user', () => {
  it('are limited per user until they are released', () => {
    const { take } = limits();
    const giveBack = take('ada', bindings('', '', '', ''));
    expect(take('ada', bindings('', '', ''))).toBeUndefined();
    expect(take('bob', bindings('', '', ''))).toBeDefined();
    expect(take('ada', bindings('', ''))).toBeDefined();
    expect(take('ada', bindings(''))).toBeUndefined();
    giveBack?.();
    expect(take('ada', bindings('', '', '', ''))).toBeDefined();
  });

  it('count a pattern like four comparisons', () => {
    const { take } = limits();
    take('ada', bindings('title=ilike.%milk%'));
    expect(take('ada', bindings('version=gt.1'))).toBeUndefined();
    expect(take('ada', bindings('title=ilike.%milk%'))).toBeDefined();
  });

  it('count a list by its values', () => {
    const { take } = limits();
    take('ada', bindings(`version=in.(${Array.from({ length: 61 }, (_, n) => n).join()})`));
    expect(take('ada', bindings('version=eq.1'))).toBeUndefined();
  });

  it('are limited by the memory of their filters, counting equal filters once', () => {
    const { take } = limits({ bytes: 1_500 });
    const first = take('ada', bindings(`title=eq.${'x'.repeat(200)}`));
    expect(take('ada', bindings(`title=eq.${'x'.repeat(200)}`))).toBeDefined();
    expect(take('ada', bindings('title=eq.y'))).toBeUndefined();
    first?.();
  });

  it('are limited by the memory of all users’ filters, unless they take little', () => {
    const { take } = limits({ bytes: 10_000, allBytes: 2_500, littleBytes: 1_000 });
    const first = take('ada', bindings('title=eq.x', 'title=eq.y'));
    expect(take('bob', bindings('title=eq.x', 'title=eq.y'))).toBeUndefined();
    expect(take('bob', bindings('title=eq.x'))).toBeDefined();
    expect(take('ada', bindings('title=eq.y'))).toBeDefined();
    first?.();
    expect(take('eve', bindings('title=eq.x', 'title=eq.y'))).toBeUndefined();
    expect(take('eve', bindings('title=eq.x'))).toBeDefined();
  });

  it('are limited by conditions, counting equal filters once', () => {
    const { take } = limits();
    const two = 'version=gt.1,version=lt.9';
    const first = take('ada', bindings(two, two));
    const second = take('ada', bindings(two));
    expect(take('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeUndefined();
    first?.();
    expect(take('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeUndefined();
    second?.();
    expect(take('ada', bindings('version=eq.1', 'version=eq.2', 'version=eq.3'))).toBeDefined();
  });

  it('share equal sets of columns', () => {
    const [[one], [other]] = [selecting('title', 'version'), selecting('version', 'title', 'id')];
    expect(one?.select).toBe(other?.select);
  });

  it('are limited by distinct sets of columns, in any order', () => {
    const { take } = limits({ bindings: 9, cost: 20 });
    const first = take('ada', selecting('title', 'version'));
    expect(take('ada', selecting('version', 'title', 'id'))).toBeDefined();
    take('ada', selecting('title'));
    expect(take('ada', selecting('version'))).toBeUndefined();
    expect(take('ada', bindings(''))).toBeDefined();
    expect(take('ada', selecting('title'))).toBeDefined();
    first?.();
    expect(take('ada', selecting('version'))).toBeUndefined(); // the binding with the other order still holds it
  });

  it('are not released twice by a channel without bindings', () => {
    const { take } = limits();
    const nothing = take('ada', []);
    take('ada', bindings('', '', ''))?.();
    take('ada', bindings('', '', '', '', '', ''));
    nothing?.();
    expect(take('ada', bindings(''))).toBeUndefined();
  });
});
