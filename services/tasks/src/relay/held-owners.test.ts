import { createHeldOwners } from './held-owners.ts';

function fixture() {
  let nowMs = 1_000;
  return {
    held: createHeldOwners({ backoff: { firstMs: 50, longestMs: 150 }, monotonicMs: () => nowMs }),
    pass: (ms: number) => (nowMs += ms),
  };
}

describe('an owner whose changes the event log does not take', () => {
  it('waits from that change on, and is tried with one change when its pause is over', () => {
    const { held, pass } = fixture();
    held.hold('one', 7);
    expect([held.size(), held.has('one'), held.has('other')]).toEqual([1, true, false]);
    pass(49);
    expect(held.due(10)).toEqual([]);
    pass(1);
    expect(held.due(10)).toMatchObject([{ ownerId: 'one', sequence: 7, most: 1 }]);
  });

  it('waits twice as long after each failure, up to a bound, and briefly again once the log took something', () => {
    const { held, pass } = fixture();
    const pauseOf = (sequence: number) => {
      held.hold('one', sequence);
      for (let ms = 0; ; ms++, pass(1)) if (held.due(1).length > 0) return ms;
    };
    expect([7, 7, 7, 7].map(pauseOf)).toEqual([50, 100, 150, 150]);
    held.goOn('one', 8);
    expect(pauseOf(8)).toBe(50);
  });

  it('goes on at once, with many changes, when the log took one', () => {
    const { held, pass } = fixture();
    held.hold('one', 7);
    pass(50);
    held.goOn('one', 8);
    expect(held.due(10)).toMatchObject([{ ownerId: 'one', sequence: 8, most: 100 }]);
    held.release('one');
    expect([held.size(), held.has('one'), held.due(10)]).toEqual([0, false, []]);
  });

  it('goes back to an older change that appears, and not on to a newer one', () => {
    const { held, pass } = fixture();
    held.hold('one', 7);
    pass(50);
    for (const sequence of [9, 3, 5]) held.goBack('one', sequence);
    held.goBack('other', 1);
    expect(held.due(10)).toMatchObject([{ ownerId: 'one', sequence: 3, most: 1 }]);
  });

  it('does not keep others from their turn: the ones tried longest ago come first, so many at once', () => {
    const { held, pass } = fixture();
    for (const owner of ['a', 'b', 'c']) held.hold(owner, 1);
    pass(200);
    const turn = () => held.due(2).map(({ ownerId }) => ownerId);
    expect(turn()).toEqual(['a', 'b']);
    for (const owner of ['a', 'b']) held.hold(owner, 1);
    pass(200);
    expect(turn()).toEqual(['c', 'a']);
    expect(held.due(3)).toHaveLength(3);
  });

  it('is forgotten when somebody else may have worked its part', () => {
    const { held } = fixture();
    held.hold('one', 7);
    held.clear();
    expect(held.size()).toBe(0);
  });
});
