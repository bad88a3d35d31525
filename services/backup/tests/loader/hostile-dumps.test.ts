import { tryHostileDumps } from './try-hostile-dumps.ts';

describe('a dump that tries to do more than bring rows', () => {
  it('brings rows or is refused, and does nothing else', async () => {
    const seeds = Array.from({ length: 60 }, (_, index) => index + 1);
    const { loaded, refused } = await tryHostileDumps(seeds);
    expect(loaded + refused).toBe(60);
    expect(loaded).toBeGreaterThan(8); // some get through: what they try is passed over
    expect(refused).toBeGreaterThan(10);
  }, 300_000);
});
