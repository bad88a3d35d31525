import { createBlockedOwners } from './blocked-owners.ts';

function fixture() {
  let nowMs = 1_000;
  return {
    blocked: createBlockedOwners({ backoff: { firstMs: 50, maxMs: 150 }, monotonicMs: () => nowMs }),
    pass: (ms: number) => (nowMs += ms),
  };
}

describe('an owner whose changes the event log does not accept', () => {
  it('waits twice as long after each failure, up to a maximum, and starts again after a release', () => {
    const { blocked, pass } = fixture();
    const pauseOf = (sequence: number) => {
      blocked.block('one', sequence);
      for (let ms = 0; ; ms++, pass(1)) if (blocked.due(1).length > 0) return ms;
    };
    expect([7, 7, 7, 7].map(pauseOf)).toEqual([50, 100, 150, 150]);
    blocked.release('one');
    expect(pauseOf(8)).toBe(50);
  });

  it('does not hold up others: the owners tried longest ago come first, up to a limit', () => {
    const { blocked, pass } = fixture();
    for (const owner of ['a', 'b', 'c']) blocked.block(owner, 1);
    pass(200);
    const turn = () => blocked.due(2).map(({ ownerId }) => ownerId);
    expect(turn()).toEqual(['a', 'b']);
    for (const owner of ['a', 'b']) blocked.block(owner, 1);
    pass(200);
    expect(turn()).toEqual(['c', 'a']);
    expect(blocked.due(3)).toHaveLength(3);
  });
});
