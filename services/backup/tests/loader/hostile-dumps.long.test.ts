import { tryHostileDumps } from './try-hostile-dumps.ts';

const DUMPS = 2_400;

describe('thousands of dumps that try to do more than bring rows', () => {
  it('bring rows or are refused, and do nothing else', async () => {
    const tally = await tryHostileDumps(Array.from({ length: DUMPS }, (_, index) => 1_000 + index));
    console.info(JSON.stringify(tally));
    const counts = Object.entries(tally);
    expect(counts.reduce((sum, [, { loaded, refused, isNoSql }]) => sum + loaded + refused + isNoSql, 0)).toBe(DUMPS);
    expect(counts).toHaveLength(15);
    for (const [theme, { loaded, refused, isNoSql }] of counts) {
      expect([theme, loaded > 10, refused > 10]).toEqual([theme, true, true]);
      expect([theme, isNoSql < 40]).toEqual([theme, true]);
    }
  }, 7_200_000);
});
