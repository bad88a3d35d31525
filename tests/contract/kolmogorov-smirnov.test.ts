import { sameDistribution } from './kolmogorov-smirnov.ts';

const evenly = (count: number, shift = 0) => Array.from({ length: count }, (_, index) => index + shift);

describe('the two-sample test', () => {
  it('finds no difference between a sample and itself', () => {
    expect(sameDistribution(evenly(500), evenly(500))).toBe(1);
  });

  it('has the textbook value for a known distance', () => {
    // 43 of 500 lie outside the other's range: the distance is 0.086, which is about the 5 % point for samples of this size.
    expect(sameDistribution(evenly(500), evenly(500, 43))).toBeCloseTo(0.0466, 3);
  });

  it('sees a shift of a fifth, in either direction', () => {
    expect(sameDistribution(evenly(500), evenly(500, 100))).toBeLessThan(1e-6);
    expect(sameDistribution(evenly(500, 100), evenly(500))).toBeLessThan(1e-6);
  });
});
