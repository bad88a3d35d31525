import { createBindingLimits } from '../src/channels.ts';
import { readBinding } from '../src/join.ts';
import { SERVED } from './world.ts';

const bindings = (...filters: string[]) => filters.map((filter) => readBinding({ event: '*', filter }, SERVED));
const selecting = (...select: string[]) => [readBinding({ event: '*', select }, SERVED)];
const limits = (more = {}) => createBindingLimits({ bindings: 6, cost: 4, characters: 1_000, ...more });

describe('the bindings of a user', () => {
  it('are limited for each user, until they are released', () => {
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

  it('are limited by the characters of their filters, those of equal ones once', () => {
    const { take } = limits({ characters: 50 });
    const first = take('ada', bindings(`title=eq.${'x'.repeat(20)}`));
    expect(take('ada', bindings(`title=eq.${'x'.repeat(20)}`))).toBeDefined();
    expect(take('ada', bindings(`title=eq.${'y'.repeat(20)}`))).toBeUndefined();
    first?.();
    expect(take('ada', bindings('title=eq.y', 'title=eq.z'))).toBeDefined();
  });

  it('are limited by conditions, those of equal filters once', () => {
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

  it('is so many sets of columns, each of which is written for every change, in any order', () => {
    const { take } = limits({ bindings: 9, cost: 20 });
    const first = take('ada', selecting('title', 'version'));
    expect(take('ada', selecting('version', 'title', 'id'))).toBeDefined();
    take('ada', selecting('title'));
    expect(take('ada', selecting('version'))).toBeUndefined();
    expect(take('ada', bindings(''))).toBeDefined();
    expect(take('ada', selecting('title'))).toBeDefined();
    first?.();
    expect(take('ada', selecting('version'))).toBeUndefined(); // the other order has it still
  });

  it('are not released twice by a channel without any', () => {
    const { take } = limits();
    const nothing = take('ada', []);
    take('ada', bindings('', '', ''))?.();
    take('ada', bindings('', '', '', '', '', ''));
    nothing?.();
    expect(take('ada', bindings(''))).toBeUndefined();
  });
});
