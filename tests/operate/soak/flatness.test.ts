import { flatness } from './flatness.ts';

const TOLERANCE = { relative: 0.05, absolute: 3 };
const run = (valueAt: (index: number) => number) => Array.from({ length: 80 }, (_, index) => valueAt(index));

describe('a figure over a long run', () => {
  it('is flat when it grows at the beginning only', () => {
    const values = run((index) => 1_000 + Math.min(index, 30) * 50);
    expect(flatness(values, TOLERANCE)).toEqual({ third: 2_500, last: 2_500, isFlat: true });
  });

  it('is not flat when it keeps growing', () => {
    expect(
      flatness(
        run((index) => 1_000 + index * 10),
        TOLERANCE,
      ).isFlat,
    ).toBe(false);
  });

  it('may differ by a little where it is small', () => {
    expect(
      flatness(
        run((index) => (index < 60 ? 10 : 12)),
        TOLERANCE,
      ).isFlat,
    ).toBe(true);
    expect(
      flatness(
        run((index) => (index < 60 ? 10 : 15)),
        TOLERANCE,
      ).isFlat,
    ).toBe(false);
  });

  it('cannot be judged from a handful of samples', () => {
    expect(() => flatness([1, 2, 3], TOLERANCE)).toThrow('Too few samples');
  });
});
