export interface Turns {
  rounds: number;
  /** Of one round of one of them. */
  seconds: number;
  warmUpSeconds: number;
  signal: AbortSignal;
}

/** Warms all of them up, then measures them in rounds: each beside what its rounds have found. */
export async function measureByTurns<Item, Round>(
  items: readonly Item[],
  { rounds, seconds, warmUpSeconds, signal }: Turns,
  measure: (item: Item, seconds: number) => Promise<Round>,
): Promise<[Item, Round[]][]> {
  const taken = items.map((item): [Item, Round[]] => [item, []]);
  const one = (item: Item, forSeconds: number) => {
    signal.throwIfAborted();
    return measure(item, forSeconds);
  };
  for (const item of items) await one(item, warmUpSeconds);
  for (let round = 0; round < rounds; round++) {
    // Another one begins each time, so that none always follows the same neighbour.
    const first = round % items.length;
    for (const [item, found] of [...taken.slice(first), ...taken.slice(0, first)]) found.push(await one(item, seconds));
  }
  return taken;
}
