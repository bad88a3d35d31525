export interface Flatness {
  /** The typical value in the third and in the last quarter of the samples. */
  third: number;
  last: number;
  isFlat: boolean;
}

export interface Tolerance {
  /** Share of the third quarter's value. */
  relative: number;
  /** In the figure's own unit, for what is small. */
  absolute: number;
}

/**
 * Whether a figure no longer grows in the second half of a run. For memory the lowest values count: what is left after a
 * collection, however the samples fall between two of them.
 */
export function flatness(values: readonly number[], tolerance: Tolerance, of: 'median' | 'lowest'): Flatness {
  const quarter = Math.floor(values.length / 4);
  if (quarter < 2) throw new Error('Too few samples to tell.');
  const typical = (part: readonly number[]) => {
    const sorted = part.toSorted((one, other) => one - other);
    return sorted[of === 'lowest' ? 0 : Math.floor(sorted.length / 2)] ?? 0;
  };
  const third = typical(values.slice(-2 * quarter, -quarter));
  const last = typical(values.slice(-quarter));
  return { third, last, isFlat: last - third <= Math.max(third * tolerance.relative, tolerance.absolute) };
}
