/** Figures of one shape put together leaf by leaf; what is no figure is as in the first. */
export function combine<Shape extends object>(shapes: readonly Shape[], leaf: (values: number[]) => number): Shape {
  const entries = Object.entries(shapes[0] ?? {}).map(([key, first]: [string, unknown]) => {
    const values = shapes.map((shape) => (shape as Record<string, unknown>)[key]);
    if (typeof first === 'number') return [key, leaf(values as number[])];
    return [key, typeof first === 'object' && first ? combine(values as object[], leaf) : first];
  });
  return Object.fromEntries(entries) as Shape;
}

/** The medians of what rounds have found, besides the rounds themselves. */
export function summarise<Round extends object>(rounds: Round[]): Round & { rounds: Round[] } {
  return { ...combine(rounds, median), rounds };
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share `q` of all lie, by linear interpolation; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * q;
  const lower = sorted[Math.floor(place)] ?? NaN;
  const upper = sorted[Math.ceil(place)] ?? NaN;
  return lower + (upper - lower) * (place - Math.floor(place));
}

/** Three digits that count. */
export function digits(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1_000) return Math.round(value).toString();
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4);
}
