import { tryHostileDumps } from './try-hostile-dumps.ts';

describe('a dump that tries to do more than bring rows', () => {
  it('brings rows or is refused, and does nothing else', async () => {
    const tally = Object.values(await tryHostileDumps(Array.from({ length: 60 }, (_, index) => index + 1)));
    const sum = (key: 'loaded' | 'refused') => tally.reduce((total, counts) => total + counts[key], 0);
    expect(sum('loaded')).toBeGreaterThan(10); // some get through: what they try is passed over
    expect(sum('refused')).toBeGreaterThan(20);
  }, 300_000);
});
