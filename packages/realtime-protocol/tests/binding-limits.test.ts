import { createBindingLimits } from '../src/channels.ts';
import { readBindings } from '../src/join.ts';
import { TASKS } from './world.ts';

const bindings = (...filters: string[]) =>
  readBindings(
    filters.map((filter) => ({ event: '*', filter })),
    TASKS,
  );
const limits = () => createBindingLimits({ bindings: 6, cost: 4 });

describe('what the channels of a user may ask', () => {
  it('is so many bindings, each user for themselves, until they are given back', () => {
    const { take } = limits();
    const giveBack = take('ada', bindings('', '', '', ''));
    expect(take('ada', bindings('', '', ''))).toBeUndefined();
    expect(take('bob', bindings('', '', ''))).toBeDefined();
    expect(take('ada', bindings('', ''))).toBeDefined();
    expect(take('ada', bindings(''))).toBeUndefined();
    giveBack?.();
    expect(take('ada', bindings('', '', '', ''))).toBeDefined();
  });

  it('counts a pattern like four comparisons', () => {
    const { take } = limits();
    take('ada', bindings('title=ilike.%milk%'));
    expect(take('ada', bindings('version=gt.1'))).toBeUndefined();
    expect(take('ada', bindings('title=ilike.%milk%'))).toBeDefined();
  });

  it('is so many conditions, those of equal filters once', () => {
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
});
