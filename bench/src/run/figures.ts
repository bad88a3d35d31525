/** Combines objects of the same shape number by number; takes anything that is not a number from the first object. */
export function combine<Shape extends object>(shapes: readonly Shape[], leaf: (values: number[]) => number): Shape {
  const entries = Object.entries(shapes[0] ?? {}).map(([key, first]: [string, unknown]) => {
    const values = shapes.map((shape) => (shape as Record<string, unknown>)[key]);
    if (typeof first === 'number') return [key, leaf(values as number[])];
    return [key, typeof first === 'object' && first ? combine(values as object[], leaf) : first];
  });
  return Object.fromEntries(entries) as Shape;
}

/** Returns the difference between two readings. */
export const difference = <Shape extends object>(after: Shape, before: Shape): Shape =>
  combine([after, before], ([later = 0, earlier = 0]) => later - earlier);

/** The median of each figure, and the rounds themselves. */
export const summarise = <Round extends object>(rounds: Round[]) => ({ ...combine(rounds, median), rounds });

export const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** Returns the quantile `q` by linear interpolation; NaN for an empty list. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * q;
  const lower = sorted[Math.floor(position)] ?? NaN;
  const upper = sorted[Math.ceil(position)] ?? NaN;
  return lower + (upper - lower) * (position - Math.floor(position));
}

export interface RoundOptions {
  rounds: number;
  /** Seconds of one round of one item. */
  seconds: number;
  /** Seconds of each item before its first round. */
  warmUp: number;
  signal: AbortSignal;
}

/** Warms up all items, then measures them in rounds. Each round begins with another item, so that none always follows the same one. */
export async function measureInRounds<Item, Round>(
  items: readonly Item[],
  { rounds, seconds, warmUp, signal }: RoundOptions,
  measure: (item: Item, seconds: number) => Promise<Round>,
): Promise<[Item, Round[]][]> {
  const results = items.map((item): [Item, Round[]] => [item, []]);
  const one = (item: Item, forSeconds: number) => {
    signal.throwIfAborted();
    return measure(item, forSeconds);
  };
  for (const item of items) await one(item, warmUp);
  for (let round = 0; round < rounds; round++) {
    const first = round % items.length;
    for (const [item, found] of [...results.slice(first), ...results.slice(0, first)])
      found.push(await one(item, seconds));
  }
  return results;
}
