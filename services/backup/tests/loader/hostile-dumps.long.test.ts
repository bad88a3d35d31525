import { tryHostileDumps } from './try-hostile-dumps.ts';

describe('thousands of dumps that try to do more than bring rows', () => {
  it('bring rows or are refused, and do nothing else', async () => {
    const first = 1_000;
    const { loaded, refused } = await tryHostileDumps(Array.from({ length: 2_400 }, (_, index) => first + index));
    expect(loaded + refused).toBe(2_400);
    expect(loaded).toBeGreaterThan(300);
  }, 7_200_000);
});
