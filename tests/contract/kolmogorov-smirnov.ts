/**
 * The two-sample Kolmogorov-Smirnov test.
 * @returns p: how likely samples of one distribution differ at least as much as these (asymptotic, for more than about 40 in each)
 */
export function sameDistribution(one: readonly number[], other: readonly number[]): number {
  const distance = largestGap(one, other);
  const size = Math.sqrt((one.length * other.length) / (one.length + other.length));
  const lambda = (size + 0.12 + 0.11 / size) * distance;
  if (lambda < 0.2) return 1; // the series converges slowly there, and is 1 to many digits
  let sum = 0;
  for (let term = 1; term <= 100; term++) sum += (term % 2 ? 2 : -2) * Math.exp(-2 * (term * lambda) ** 2);
  return Math.min(1, Math.max(0, sum));
}

/** The largest difference between the two empirical distribution functions. */
function largestGap(one: readonly number[], other: readonly number[]): number {
  const [left, right] = [one.toSorted(byValue), other.toSorted(byValue)];
  let [i, j, gap] = [0, 0, 0];
  while (i < left.length && j < right.length) {
    const value = Math.min(left[i] ?? 0, right[j] ?? 0);
    while (i < left.length && (left[i] ?? 0) <= value) i += 1;
    while (j < right.length && (right[j] ?? 0) <= value) j += 1;
    gap = Math.max(gap, Math.abs(i / left.length - j / right.length));
  }
  return gap;
}

const byValue = (one: number, other: number) => one - other;
