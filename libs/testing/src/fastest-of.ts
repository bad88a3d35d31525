/**
 * The shortest time, in ms, of several rounds, each of which measures its own. Delays by a busy machine differ from
 * round to round; what the code itself needs is part of each.
 */
export async function fastestOf(round: () => Promise<number>, rounds = 3): Promise<number> {
  const tookMs: number[] = [];
  for (let count = 0; count < rounds; count++) tookMs.push(await round());
  return Math.min(...tookMs);
}
