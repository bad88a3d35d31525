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

/** Whether a figure no longer grows in the second half of a run. */
export function flatness(values: readonly number[], tolerance: Tolerance): Flatness {
  const quarter = Math.floor(values.length / 4);
  if (quarter < 2) throw new Error('Too few samples to tell.');
  const typical = (part: readonly number[]) =>
    part.toSorted((one, other) => one - other)[Math.floor(part.length / 2)] ?? 0;
  const third = typical(values.slice(-2 * quarter, -quarter));
  const last = typical(values.slice(-quarter));
  return { third, last, isFlat: last - third <= Math.max(third * tolerance.relative, tolerance.absolute) };
}
