import { createBlockedKeys } from './blocked-keys.ts';

function fixture() {
  let nowMs = 1_000;
  const pauseMs = (failures: number) => Math.min(50 * 2 ** (failures - 1), 150);
  return { blocked: createBlockedKeys({ pauseMs, monotonicMs: () => nowMs }), pass: (ms: number) => (nowMs += ms) };
}

describe('a key whose records the event log does not accept', () => {
  it('waits longer after each failure, and starts again after a release', () => {
    const { blocked, pass } = fixture();
    const pauseOf = (sequence: number) => {
      blocked.block('one', sequence);
      for (let ms = 0; ; ms++, pass(1)) if (blocked.due(1).length > 0) return ms;
    };
    expect([7, 7, 7, 7].map(pauseOf)).toEqual([50, 100, 150, 150]);
    blocked.release('one');
    expect(pauseOf(8)).toBe(50);
  });

  it('does not hold up others: the keys tried longest ago come first, up to a limit', () => {
    const { blocked, pass } = fixture();
    for (const key of ['a', 'b', 'c']) blocked.block(key, 1);
    pass(200);
    const turn = () => blocked.due(2).map(({ key }) => key);
    expect(turn()).toEqual(['a', 'b']);
    for (const key of ['a', 'b']) blocked.block(key, 1);
    pass(200);
    expect(turn()).toEqual(['c', 'a']);
    expect(blocked.due(3)).toHaveLength(3);
  });
});
